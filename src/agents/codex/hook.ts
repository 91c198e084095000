import { z } from "zod";
import { callKey } from "../../core/door/call-key.ts";
import { type HookClient, parseHookInput } from "../../core/door/hook.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import { answerMessage } from "../../core/run/agent-message.ts";
import { Hook, toolCall } from "../tool-call.ts";

const QUESTION_TOOL = "request_user_input";
const OWN_TOOL = /(?:^|_)(?:ask_human|check_answer|cancel_question|post_question)$/;

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
  parse: (raw) => {
    const { hook_event_name: event, session_id: session, cwd: dir } = parseHookInput(Hook, raw);
    if (event !== "PreToolUse") return { is: "other" };
    const { tool_name: tool, tool_input: input, tool_use_id: id } = parseHookInput(ToolHook, raw);
    if (OWN_TOOL.test(tool)) return { is: "other" };
    const asked = tool === QUESTION_TOOL ? parseHookInput(Questions, input) : undefined;
    const question = asked && { questions: asked.questions };
    return { is: "call", call: toolCall({ event, session, dir, key: callKey(session, id), tool, input, question }) };
  },
  say: (call, reply, delimiter) => {
    if (reply.do === "pass") return undefined;
    const output = { hookEventName: call.event, permissionDecision: "deny" };
    if (reply.do !== "give") return { hookSpecificOutput: { ...output, permissionDecisionReason: reply.why } };
    if (call.is === "approval") return { hookSpecificOutput: { ...output, permissionDecision: "allow" } };
    const permissionDecisionReason = answerMessage({ delimiter, reads: [reply.read] });
    return { hookSpecificOutput: { ...output, permissionDecisionReason } };
  },
};
