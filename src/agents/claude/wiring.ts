import { join } from "node:path";
import { SECOND_MS } from "../../core/instant.ts";
import type {
  ClientSurroundings,
  Client,
  Scope,
  Target,
  DesiredHook,
  DesiredServer,
  DesiredConfig,
} from "../wiring.ts";
import { SERVER, TOOLS } from "../mcp-config.ts";
import { hookTimeoutS, wiredServerArgv, startFor } from "../desired-server.ts";

/** The program's own limits for a hook, and for a call without progress. */
const HOOK_TIMEOUT_S = 600;
const CALL_TIMEOUT_MS = 1_800_000;
const CALL_SPARE_MS = 15 * SECOND_MS;

/** Claude Code: tools of a server are hidden unless it is always loaded, and `-p` refuses what no rule allows. */
export const claudeWiring: Client = {
  name: "claude",
  title: "Claude Code",
  programs: ["claude"],
  homes: (around) => [configHome(around), stateFile(around)],
  targets: (scope, around) => [serverTarget(scope, around), settingsTarget(scope, around)],
  sessionDays: { field: "cleanupPeriodDays", defaultDays: 30 },
};

function serverTarget(scope: Scope, around: ClientSurroundings): Target {
  if (scope === "project") {
    return { file: join(around.dir, ".mcp.json"), format: "json", wishes: [server(["mcpServers"], scope, around)] };
  }
  const path = scope === "user" ? ["mcpServers"] : ["projects", around.dir, "mcpServers"];
  return {
    file: stateFile(around),
    format: "json",
    wishes: [server(path, scope, around)],
    ...(scope === "local" && { note: "this project only" }),
  };
}

function server(path: readonly string[], scope: Scope, around: ClientSurroundings): DesiredServer {
  return {
    is: "server",
    path: [...path, SERVER],
    argv: wiredServerArgv(scope, around),
    line: { command: "command", args: "args" },
    fields: {
      type: { value: "stdio", when: "fresh" },
      alwaysLoad: { value: true, when: "absent" },
      // Progress keeps a call alive for half an hour; a limit of the user's own is absolute.
      timeout: { value: around.liveWindowMs + CALL_SPARE_MS, when: "raise" },
    },
    timeout: { field: "timeout", unitMs: 1, defaultMs: CALL_TIMEOUT_MS },
  };
}

function settingsTarget(scope: Scope, around: ClientSurroundings): Target {
  const allow = TOOLS.map((tool): DesiredConfig => {
    return { is: "allow", path: ["permissions", "allow"], text: `mcp__${SERVER}__${tool}` };
  });
  return {
    file: settingsFile(scope, around),
    format: "json",
    wishes: [...allow, hook("PreToolUse", scope, around), hook("PostToolUse", scope, around)],
  };
}

function hook(event: "PreToolUse" | "PostToolUse", scope: Scope, around: ClientSurroundings): DesiredHook {
  const seconds = Math.max(HOOK_TIMEOUT_S, hookTimeoutS(around));
  const told = seconds > HOOK_TIMEOUT_S ? ["--timeout", `${seconds}s`] : [];
  return {
    is: "hook",
    path: ["hooks", event],
    matcher: "AskUserQuestion",
    argv: [...startFor(scope, around), "hook", "claude", "--standing", ...told],
    ...(event === "PreToolUse" && { timeout: { value: seconds, unitMs: SECOND_MS } }),
  };
}

function settingsFile(scope: Scope, around: ClientSurroundings): string {
  if (scope === "user") return join(configHome(around), "settings.json");
  return join(around.dir, ".claude", scope === "local" ? "settings.local.json" : "settings.json");
}

function configHome({ env, homeDir }: ClientSurroundings): string {
  return env["CLAUDE_CONFIG_DIR"] || join(homeDir, ".claude");
}

/** Where the program keeps servers of a person, and much else: beside its folder, or in the one it was given. */
function stateFile({ env, homeDir }: ClientSurroundings): string {
  return join(env["CLAUDE_CONFIG_DIR"] || homeDir, ".claude.json");
}
