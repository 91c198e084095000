import type { Values } from "./schema.ts";

/** A channel that is configured, with its settings as people may see them. */
export interface ChannelSet {
  name: string;
  settings: ReadonlyArray<readonly [string, string]>;
}

/** Names of variables and files say where a secret is; addresses may hold one, so only their host is told. */
export function listChannels({ channels = {}, notifications = {} }: Values): ChannelSet[] {
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
    return [[key, typeof value === "string" ? sayValue(value) : JSON.stringify(value)] as const];
  });
}

function sayValue(text: string): string {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? `${new URL(text).host}/…` : text;
}
