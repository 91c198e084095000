import { join } from "node:path";
import { type ClientProfile, type KnownClient, isAttended, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import type { Env } from "../agent.ts";
import { SERVER, TOOLS } from "../mcp-config.ts";
import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";
import type { AgentDefinition } from "../registry.ts";
import {
  type Client,
  type ClientSurroundings,
  type DesiredHook,
  type DesiredServer,
  type Scope,
  type Target,
  hookTimeoutS,
  serverWish,
  startFor,
} from "../wiring.ts";
import { claude } from "./claude.ts";
import { claudeHook, claudePermissionPrompt } from "./hook.ts";

/** The program's own limits for a hook, and for a call without progress. */
const HOOK_TIMEOUT_S = 600;
const CALL_TIMEOUT_MS = 1_800_000;
const CALL_SPARE_MS = 15 * SECOND_MS;
const BACKGROUND_MS = 2 * MINUTE_MS;

/** Claude Code: tools of a server are hidden unless it is always loaded, and `-p` refuses what no rule allows. */
const client: Client = {
  name: "claude",
  title: "Claude Code",
  programs: ["claude"],
  homes: (around) => [configHome(around), stateFile(around)],
  targets: (scope, around) => [serverTarget(scope, around), settingsTarget(scope, around)],
  sessionDays: { field: "cleanupPeriodDays", defaultDays: 30 },
};

/** Claude Code as a client of MCP servers. */
const profile: KnownClient = {
  clientName: /^claude[- ]code/i,
  agent: "claude",
  // An SSE reply over HTTP; a single JSON body would be given up after 60 s.
  limits: {
    stdio: { limitMs: 30 * MINUTE_MS, progressExtends: true },
    http: { limitMs: 5 * MINUTE_MS, progressExtends: true },
  },
  names: { sessionEnv: "CLAUDE_CODE_SESSION_ID", callMeta: "claudecode/toolUseId" },
  attended: { env: "CLAUDE_CODE_SESSION_ATTENDED", is: "1" },
  limitsIn,
};

/** How Claude Code is measured. */
const probe: ProbeAgent = {
  base: () => "",
  env: ({ modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: PROBE_KEY,
    CLAUDE_CODE_MAX_RETRIES: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  }),
  args: ["-p", PROBE_PROMPT, "--output-format", "stream-json", "--verbose"],
  tool: "mcp__askd__ask_human",
  idleEnv: "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT",
};

export const claudeDefinition: AgentDefinition = {
  agent: claude,
  client,
  projectFiles: [".claude/settings.local.json", ".mcp.json"],
  profile,
  hook: claudeHook,
  permissionPrompt: claudePermissionPrompt,
  probe,
};

function serverTarget(scope: Scope, around: ClientSurroundings): Target {
  const isLocal = scope === "local";
  const path = isLocal ? ["projects", around.dir, "mcpServers"] : ["mcpServers"];
  return {
    file: scope === "project" ? join(around.dir, ".mcp.json") : stateFile(around),
    format: "json",
    wishes: [server(path, scope, around)],
    note: isLocal ? "this project only" : undefined,
  };
}

function server(path: readonly string[], scope: Scope, around: ClientSurroundings): DesiredServer {
  return serverWish(path, scope, around, {
    fields: {
      type: { value: "stdio", when: "fresh" },
      alwaysLoad: { value: true, when: "absent" },
      // Progress keeps a call alive for half an hour; a limit of the user's own is absolute.
      timeout: { value: around.liveWindowMs + CALL_SPARE_MS, when: "raise" },
    },
    timeout: { field: "timeout", unitMs: 1, defaultMs: CALL_TIMEOUT_MS },
  });
}

function settingsTarget(scope: Scope, around: ClientSurroundings): Target {
  const allow = TOOLS.map((tool) => ({
    is: "allow" as const,
    path: ["permissions", "allow"],
    text: `mcp__${SERVER}__${tool}`,
  }));
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
    timeout: event === "PreToolUse" ? { value: seconds, unitMs: SECOND_MS } : undefined,
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

/**
 * A limit of the user's own is absolute, and so is the time after which the program moves a call into the background:
 * its model is then told to go on without the answer.
 */
function limitsIn(profile: ClientProfile, env: Env): ClientProfile["limits"] {
  const limits = [Number(env["MCP_TOOL_TIMEOUT"]), backgroundMs(profile, env)];
  // Values under a second are ignored by the client as well.
  const limitMs = Math.min(...limits.filter((ms) => ms >= SECOND_MS));
  return Number.isFinite(limitMs) ? sameLimits(limitMs, false) : profile.limits;
}

/** Headless sessions have no background unless told so; measured with 2.1.325. */
function backgroundMs(profile: ClientProfile, env: Env): number {
  const isOn = isAttended(profile, env) || Boolean(env["CLAUDE_AUTO_BACKGROUND_TASKS"]);
  return isOn ? Number(env["CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"] ?? BACKGROUND_MS) : Number.NaN;
}
