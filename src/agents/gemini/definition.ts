import { join } from "node:path";
import { z } from "zod";
import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { type HookClient, parseHookInput } from "../../core/door/hook.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { answerMessage } from "../../core/run/agent-message.ts";
import { SERVER } from "../mcp-config.ts";
import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";
import type { AgentDefinition } from "../registry.ts";
import { Hook, toolCall } from "../tool-call.ts";
import { type Client, type ClientSurroundings, callTimeoutMs, hookTimeoutS, serverWish, startFor } from "../wiring.ts";
import { gemini } from "./gemini.ts";

const CALL_TIMEOUT_MS = 10 * MINUTE_MS;
/** Its own question tool, and ours, whose call can be stopped only from here. */
const QUESTION_TOOLS: ReadonlySet<string> = new Set(["ask_user", "ask_human"]);
const OWN_TOOLS: ReadonlySet<string> = new Set(["check_answer", "cancel_question", "post_question"]);

const ToolHook = Hook.extend({
  tool_name: z.string().min(1),
  tool_input: z.record(z.string(), z.unknown()),
  mcp_context: z.looseObject({ tool_name: z.string() }).nullish(),
});

/** Gemini CLI as a client of MCP servers. */
const profile: KnownClient = {
  clientName: /^gemini/i,
  agent: "gemini",
  limits: sameLimits(CALL_TIMEOUT_MS, false),
  names: {},
  attended: "unknown",
};

/** Gemini CLI: tools of a server that is not trusted are not offered where nobody can be asked. */
const client: Client = {
  name: "gemini",
  title: "Gemini CLI",
  programs: ["gemini"],
  homes: (around) => [geminiHome(around)],
  targets: (scope, around) => {
    const seconds = hookTimeoutS(around);
    const server = serverWish(["mcpServers"], scope, around, {
      fields: {
        trust: { value: true, when: "absent" },
        timeout: { value: callTimeoutMs(profile, around), when: "at_least" },
      },
      timeout: { field: "timeout", unitMs: 1, defaultMs: CALL_TIMEOUT_MS },
    });
    const hook = {
      is: "hook" as const,
      path: ["hooks", "BeforeTool"],
      matcher: `mcp_${SERVER}_ask_human`,
      argv: [...startFor(scope, around), "hook", "gemini", "--standing", "--timeout", `${seconds}s`],
      timeout: { value: seconds * SECOND_MS, unitMs: 1 },
    };
    const dir = scope === "user" ? geminiHome(around) : join(around.dir, ".gemini");
    return [{ file: join(dir, "settings.json"), format: "json", wishes: [server, hook] }];
  },
};

/** Gemini CLI: a question is answered in the reason of a refusal, as the program shows its model nothing else. */
export const geminiHook: HookClient = {
  agent: "gemini",
  limitMs: MINUTE_MS,
  mayPark: true,
  runsBringHook: false,
  seat: () => ({ isHeadless: false }),
  parse: (raw) => {
    const { hook_event_name: event, session_id: session, cwd: dir } = parseHookInput(Hook, raw);
    if (event !== "BeforeTool") return { is: "other" };
    const { tool_name: tool, tool_input: input, mcp_context: mcp } = parseHookInput(ToolHook, raw);
    const name = mcp?.tool_name ?? tool;
    if (OWN_TOOLS.has(name)) return { is: "other" };
    const question = QUESTION_TOOLS.has(name) ? input : undefined;
    return { is: "call", call: toolCall({ event, session, dir, tool, input, question }) };
  },
  say: (call, reply, delimiter) => {
    if (reply.do === "pass") return undefined;
    if (reply.do === "park") return { continue: false, stopReason: reply.why };
    if (reply.do === "deny") return { decision: "deny", reason: reply.why };
    if (call.is === "approval") return { decision: "allow" };
    return { decision: "deny", reason: answerMessage({ delimiter, reads: [reply.read] }) };
  },
};

/** How Gemini CLI is measured. */
const probe: ProbeAgent = {
  base: () =>
    JSON.stringify({
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    }),
  env: ({ modelUrl }) => ({
    GEMINI_API_KEY: PROBE_KEY,
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_CLI_NO_RELAUNCH: "true",
  }),
  args: ["-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p", PROBE_PROMPT],
};

export const geminiDefinition: AgentDefinition = {
  agent: gemini,
  client,
  projectFiles: [".gemini/settings.json"],
  profile,
  hook: geminiHook,
  probe,
};

function geminiHome({ env, homeDir }: ClientSurroundings): string {
  return join(env["GEMINI_CLI_HOME"] || homeDir, ".gemini");
}
