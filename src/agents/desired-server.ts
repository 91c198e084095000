import { join } from "node:path";
import { type ClientProfile, profileOf } from "../core/door/client-profile.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { Around, Scope } from "../setup/client.ts";
import type { Argv } from "../setup/command-line.ts";

/** What our server is called in the settings of all clients. */
export const SERVER = "askd";
/** The tools that it offers. */
export const TOOLS = ["ask_human", "check_answer", "cancel_question"] as const;
/** How much longer a client should wait for a call, or for a hook, than it is held. */
const CALL_SPARE_S = 60;
const HOOK_SPARE_S = 30;

/** How a file of this scope starts askd: what others share names nothing of this machine. */
export function startFor(scope: Scope, { askd }: Around): Argv {
  return scope === "project" ? askd.shared : askd.own;
}

/** The command of our server. */
export function serverArgv(scope: Scope, around: Around): Argv {
  return [...startFor(scope, around), "mcp"];
}

/** How long this client should wait for one call: never less than askd believes that it does. */
export function callTimeoutMs(client: string, { liveWindowMs }: Around): number {
  const { limits }: ClientProfile = profileOf({ name: client, version: "" });
  const wanted = (Math.ceil(liveWindowMs / SECOND_MS) + CALL_SPARE_S) * SECOND_MS;
  return limits.stdio.progressExtends ? wanted : Math.max(limits.stdio.limitMs, wanted);
}

/** How long a hook may take that holds a question for the whole window. */
export function hookTimeoutS({ liveWindowMs }: Around): number {
  return Math.ceil(liveWindowMs / SECOND_MS) + HOOK_SPARE_S;
}

/** The folder of settings that follows XDG. */
export function configDir({ env, homeDir }: Around): string {
  return env["XDG_CONFIG_HOME"] || join(homeDir, ".config");
}
