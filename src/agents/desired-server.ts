import { join } from "node:path";
import type { ClientProfile } from "../core/door/client-profile.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { ClientSurroundings, Scope, Argv } from "./wiring.ts";

type CallLimits = Pick<ClientProfile, "limits">;

/** How much longer a client should wait for a call, or for a hook, than it is held. */
const CALL_SPARE_S = 60;
const HOOK_SPARE_S = 30;

/** How a file of this scope starts askd: what others share names nothing of this machine. */
export function startFor(scope: Scope, { askd }: ClientSurroundings): Argv {
  return scope === "project" ? askd.shared : askd.own;
}

/** The command of our server. */
export function wiredServerArgv(scope: Scope, around: ClientSurroundings): Argv {
  return [...startFor(scope, around), "mcp"];
}

/** How long a client should wait for one call: never less than askd believes that it does. */
export function callTimeoutMs({ limits: { stdio } }: CallLimits, { liveWindowMs }: ClientSurroundings): number {
  const wanted = (Math.ceil(liveWindowMs / SECOND_MS) + CALL_SPARE_S) * SECOND_MS;
  return stdio.progressExtends ? wanted : Math.max(stdio.limitMs, wanted);
}

/** How long a hook may take that holds a question for the whole window. */
export function hookTimeoutS({ liveWindowMs }: ClientSurroundings): number {
  return Math.ceil(liveWindowMs / SECOND_MS) + HOOK_SPARE_S;
}

/** The folder of settings that follows XDG. */
export function configDir({ env, homeDir }: ClientSurroundings): string {
  return env["XDG_CONFIG_HOME"] || join(homeDir, ".config");
}
