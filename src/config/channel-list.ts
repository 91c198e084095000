import type { Values } from "./schema.ts";

/** A configured channel, with its settings without secrets. */
export interface ConfiguredChannel {
  name: string;
  settings: ReadonlyArray<readonly [string, string]>;
}

/**
 * Lists the configured channels. Variables and files only name a secret; an address may contain one, so only its host
 * is shown.
 */
export function listChannels({ channels = {}, notifications = {} }: Values): ConfiguredChannel[] {
  const sets = Object.entries(channels).map(([name, section]) => ({ name, settings: settingsOf(section) }));
  const own = settingsOf(notifications);
  return own.length === 0 ? sets : [...sets, { name: "notifications", settings: own }];
}

function settingsOf(section: object, before = ""): Array<readonly [string, string]> {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]) => {
    const key = `${before}${name}`;
    if (value === undefined) return [];
    if (Array.isArray(value)) return [[key, value.map(String).join(", ")] as const];
    if (value !== null && typeof value === "object") return settingsOf(value, `${key}.`);
    return [[key, typeof value === "string" ? showSetting(value) : JSON.stringify(value)] as const];
  });
}

function showSetting(text: string) {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? `${new URL(text).host}/…` : text;
}
