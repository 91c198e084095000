import { z } from "zod";
import { approvalAsk } from "../../core/question/approval.ts";
import { answerMessage } from "../../core/run/agent-message.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import { callKey } from "../../core/door/call-key.ts";
import {
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookReply,
  parseHookInput,
} from "../../core/door/hook.ts";

const QUESTION_TOOL = "request_user_input";
const OWN_TOOL = /(?:^|_)(?:ask_human|check_answer|cancel_question|post_question)$/;

const Hook = z.looseObject({
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  hook_event_name: z.string(),
});
const ToolHook = Hook.extend({
  tool_name: z.string().min(1),
  tool_use_id: z.string().min(1),
  tool_input: z.unknown(),
});
const Questions = z.looseObject({ questions: z.array(z.unknown()).min(1) });

/** Codex: its own question tool gets a live answer in the reason of a refusal; it cannot be parked in a call. */
export const codexHook: HookClient = {
  agent: "codex",
  limitMs: MINUTE_MS,
  mayPark: false,
  runsBringHook: false,
  seat: () => ({ isHeadless: false }),
  parse: parseHook,
  say: sayHook,
};

function parseHook(raw: unknown): HookEvent {
  if (parseHookInput(Hook, raw).hook_event_name !== "PreToolUse") return { is: "other" };
  const hook = parseHookInput(ToolHook, raw);
  if (OWN_TOOL.test(hook.tool_name)) return { is: "other" };
  const isQuestion = hook.tool_name === QUESTION_TOOL;
  const use = { tool: hook.tool_name, input: hook.tool_input };
  const call: HookCall = {
    is: isQuestion ? "question" : "approval",
    ...use,
    event: hook.hook_event_name,
    session: hook.session_id,
    dir: hook.cwd,
    isSubagent: false,
    key: callKey(hook.session_id, hook.tool_use_id),
    ask: isQuestion ? { questions: parseHookInput(Questions, hook.tool_input).questions } : approvalAsk(use),
    door: {},
  };
  return { is: "call", call };
}

function sayHook(call: HookCall, reply: HookReply, delimiter: string): object | undefined {
  if (reply.do === "pass") return undefined;
  const decision =
    reply.do === "give" && call.is === "approval"
      ? { permissionDecision: "allow" }
      : { permissionDecision: "deny", permissionDecisionReason: reasonOf(reply, delimiter) };
  return { hookSpecificOutput: { hookEventName: call.event, ...decision } };
}

function reasonOf(reply: Exclude<HookReply, { do: "pass" }>, delimiter: string): string {
  return reply.do === "give" ? answerMessage({ delimiter, reads: [reply.read] }) : reply.why;
}
