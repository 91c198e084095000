import { z } from "zod";
import { approvalAsk } from "../../core/question/approval.ts";
import { answerMessage } from "../../core/run/agent-message.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import {
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookReply,
  parseHookInput,
} from "../../core/door/hook.ts";

/** Its own question tool, and ours, whose call can be stopped only from here. */
const QUESTION_TOOLS: ReadonlySet<string> = new Set(["ask_user", "ask_human"]);
const OWN_TOOLS: ReadonlySet<string> = new Set(["check_answer", "cancel_question", "post_question"]);

const Hook = z.looseObject({
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  hook_event_name: z.string(),
});
const ToolHook = Hook.extend({
  tool_name: z.string().min(1),
  tool_input: z.record(z.string(), z.unknown()),
  mcp_context: z.looseObject({ tool_name: z.string() }).nullish(),
});

/** Gemini CLI: a question is answered in the reason of a refusal, as the program shows its model nothing else. */
export const geminiHook: HookClient = {
  agent: "gemini",
  limitMs: MINUTE_MS,
  mayPark: true,
  runsBringHook: false,
  seat: () => ({ isHeadless: false }),
  parse: parseHook,
  say: sayHook,
};

function parseHook(raw: unknown): HookEvent {
  if (parseHookInput(Hook, raw).hook_event_name !== "BeforeTool") return { is: "other" };
  const hook = parseHookInput(ToolHook, raw);
  const name = hook.mcp_context?.tool_name ?? hook.tool_name;
  if (OWN_TOOLS.has(name)) return { is: "other" };
  const isQuestion = QUESTION_TOOLS.has(name);
  const use = { tool: hook.tool_name, input: hook.tool_input };
  const call: HookCall = {
    is: isQuestion ? "question" : "approval",
    ...use,
    event: hook.hook_event_name,
    session: hook.session_id,
    dir: hook.cwd,
    key: undefined,
    isSubagent: false,
    ask: isQuestion ? hook.tool_input : approvalAsk(use),
    door: {},
  };
  return { is: "call", call };
}

function sayHook(call: HookCall, reply: HookReply, delimiter: string): object | undefined {
  if (reply.do === "pass") return undefined;
  if (reply.do === "park") return { continue: false, stopReason: reply.why };
  if (reply.do === "deny") return { decision: "deny", reason: reply.why };
  if (call.is === "approval") return { decision: "allow" };
  return { decision: "deny", reason: answerMessage({ delimiter, reads: [reply.read] }) };
}
