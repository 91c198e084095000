import { redact } from "../core/secret/redact.ts";
import { VARIABLES, withEnv } from "./env.ts";
import { keysIn, parseKey, formatKey } from "./key.ts";
import { type KeyPath, isTable, leavesOf, valueAt } from "../edit/table.ts";
import type { Config } from "./load.ts";
import { DEFAULTS, Values } from "./schema.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** One effective setting and its source. */
export interface Setting {
  key: string;
  value: unknown;
  origin: "env" | "project" | "user" | "system" | "default";
  /** The file, or the variable. */
  file?: string;
  line?: number;
}

/** Lists all settings that are set or have a default, in schema order. */
export function listSettings(config: Config, env: Env): Setting[] {
  const values = withEnv(config.values, env);
  const named = [...leavesOf(values), ...leavesOf(DEFAULTS)].map(({ path }) => formatKey(path));
  const places = ["profile", "store.url"].filter((key) => isInEnv(key, env));
  const order = keysIn(Values).map((key) => key.replace(/\.<name>.*/, "."));
  const placeOf = (key: string) =>
    order.findIndex((known) => key === known || (known.endsWith(".") && key.startsWith(known)));
  return [...new Set([...named, ...places])]
    .toSorted((one, other) => placeOf(one) - placeOf(other))
    .flatMap((key) => findSetting(config, env, key) ?? []);
}

/** Finds one setting by key; undefined if it is not set and has no default. */
export function findSetting(config: Config, env: Env, key: string): Setting | undefined {
  const path: KeyPath = parseKey(key) ?? [];
  if (isInEnv(key, env)) {
    const name = VARIABLES[key];
    return { key, value: valueAt(withEnv({}, env), path) ?? env[name], origin: "env", file: name };
  }
  const origin = config.origins.get(key);
  if (origin)
    return { key, value: valueAt(config.values, path), origin: origin.layer, file: origin.file, line: origin.line };
  const value = valueAt(DEFAULTS, path);
  return value === undefined || isTable(value) ? undefined : { key, value, origin: "default" };
}

/** The setting with secrets redacted. A webhook address is redacted as a whole. */
export function withoutSecretValue(setting: Setting): Setting {
  const { key, value } = setting;
  if (typeof value !== "string") return setting;
  const isHook = /(?:webhook(?:_|\.)|anchor_)url$/.test(key) && URL.canParse(value);
  return { ...setting, value: isHook ? `${new URL(value).origin}/[redacted]` : redact(value, []) };
}

function isInEnv(key: string, env: Env): key is keyof typeof VARIABLES {
  const name = Object.entries(VARIABLES).find(([known]) => known === key)?.[1];
  return name !== undefined && Boolean(env[name]);
}
