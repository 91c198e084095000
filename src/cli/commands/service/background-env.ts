import { channelVariables } from "../../../config/reach.ts";
import { secretVariables } from "../../../config/secret-variable.ts";
import type { Context } from "../../context.ts";

const XDG = ["CONFIG_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR", "CACHE_HOME"].map((name) => `XDG_${name}`);
/** The variables that say who and where this user is, and where the store and the settings are. */
const PLACE = [
  "HOME",
  "USER",
  "LOGNAME",
  "PATH",
  "LANG",
  "TZ",
  "TMPDIR",
  ...XDG,
  "ASKD_HOME",
  "ASKD_CONFIG_DIR",
  "ASKD_CONFIG_SYSTEM",
  "ASKD_CALLBACK_LOOPBACK",
];

/**
 * The environment of a server or worker in the background: where things are, and the secrets that the settings name. The
 * caller's other variables must not leak into it, nor into runs, which keep their own.
 */
export function backgroundEnv(
  { env, config: { values } }: Pick<Context, "env" | "config">,
  also: readonly string[] = [],
): Record<string, string> {
  const named = [...channelVariables(values), ...secretVariables(values)];
  return Object.fromEntries(
    [...PLACE, ...also, ...named].flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
