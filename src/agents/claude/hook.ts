import { z } from "zod";
import { allowedInput, approvalAsk } from "../../core/question/approval.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { quoteLine, quoteWords } from "../../core/text/foreign-text.ts";
import { answerMessage, provenanceMessage } from "../../core/run/agent-message.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import { findAnswer } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { callKey } from "../../core/door/call-key.ts";
import { formAsk, readForm } from "../../core/door/form-ask.ts";
import {
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookReply,
  type PermissionPrompt,
  answerWords,
  parseHookInput,
} from "../../core/door/hook.ts";
import { AGENT_VERSION } from "../mcp-config.ts";
import { losesResults } from "./settings.ts";

const QUESTION_TOOL = "AskUserQuestion";
/** A version that does not name itself to its hooks, and that cannot be told from one that loses results. */
const NAMELESS = "2.1.110";
/** Its model reads each answer and note between double quotes. */
const ENDS = /"/;
/** Precedes an answer that is said beside the result of its call. */
const SAID_TWICE =
  "The result of this call may not reach you, so the answer follows here too. You may have been told this already by the result; it is one answer.";
/** Our own tools ask by themselves. */
const OWN_TOOL = /^mcp__.+__(?:ask_human|check_answer|cancel_question|post_question)$/;

const Base = z.looseObject({
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  permission_mode: z.string().optional(),
  /** Set inside a subagent, which cannot be parked. */
  agent_id: z.string().nullish(),
});
const ToolHook = Base.extend({
  hook_event_name: z.enum(["PreToolUse", "PostToolUse", "PostToolUseFailure"]),
  tool_name: z.string().min(1),
  tool_use_id: z.string().min(1),
  tool_input: z.unknown(),
});
const FormHook = Base.extend({
  hook_event_name: z.literal("Elicitation"),
  mcp_server_name: z.string(),
  message: z.string().default(""),
  mode: z.string().default("form"),
  requested_schema: z.unknown(),
});
const AnyHook = Base.extend({ hook_event_name: z.string() });

/** The questions of the tool, as the model wrote them: answers go back in the same words. */
const QuestionInput = z.looseObject({
  questions: z
    .array(z.looseObject({ question: z.string(), options: z.array(z.looseObject({ label: z.string() })).default([]) }))
    .min(1),
});

/** Claude Code: its own question tool, permission to use a tool, and forms of MCP servers. */
export const claudeHook: HookClient = {
  agent: "claude",
  limitMs: 10 * MINUTE_MS,
  mayPark: true,
  runsBringHook: true,
  seat: (env) => {
    const attended = env["CLAUDE_CODE_SESSION_ATTENDED"];
    const isHeadless = attended === "0" && env["CLAUDE_CODE_ENTRYPOINT"] === "sdk-cli";
    const pid = Number(env["CLAUDE_PID"]);
    return {
      ...(attended !== undefined && { isAttended: attended !== "0" }),
      isHeadless,
      ...(Number.isInteger(pid) && pid > 0 && { pid }),
    };
  },
  mayLoseResult: (env) => losesResults(findVersion(env)),
  parse: parseHook,
  say: (call, reply, delimiter) => {
    const output = call.event === "Elicitation" ? sayForm(call, reply) : sayTool(call, reply, delimiter);
    return output && { hookSpecificOutput: { hookEventName: call.event, ...output } };
  },
};

/** Permission prompts of Claude Code (`--permission-prompt-tool`). */
export const claudePermissionPrompt: PermissionPrompt = {
  toCall: (request) => toolCall({ ...request, event: "permission", isSubagent: false }),
  answeredInput,
};

/** A use of a tool as a call to be decided; permission prompts have the same shape. */
function toolCall(use: {
  event: string;
  session: string;
  dir?: string | undefined;
  tool: string;
  input: unknown;
  toolUseId: string;
  isSubagent: boolean;
}): HookCall {
  const isQuestion = use.tool === QUESTION_TOOL;
  return {
    is: isQuestion ? "question" : "approval",
    event: use.event,
    session: use.session,
    dir: use.dir,
    tool: use.tool,
    input: use.input,
    key: callKey(use.session, use.toolUseId),
    isSubagent: use.isSubagent,
    ask: isQuestion
      ? { questions: parseHookInput(QuestionInput, use.input).questions }
      : approvalAsk({ ...use, takesChange: true }),
    door: {},
  };
}

/** The input with which Claude Code runs its question tool, answered: labels in its own words, and the note. */
function answeredInput(call: HookCall, read: QuestionSnapshot, delimiter: string): Record<string, unknown> {
  const asked = parseHookInput(QuestionInput, call.input);
  const answer = findAnswer(read.question);
  const texts = asked.questions.map(
    ({ question }, index) => [question, answerTo(call, read, index, delimiter)] as const,
  );
  const first = asked.questions[0]?.question ?? "";
  const note = answer?.outcome === "answer" ? answer.note : undefined;
  return {
    ...asked,
    answers: Object.fromEntries(texts.filter(([, text]) => text !== undefined)),
    ...(note !== undefined && { annotations: { [first]: { notes: quoteWords(note, delimiter, ENDS) } } }),
  };
}

function parseHook(raw: unknown): HookEvent {
  const { hook_event_name: event } = parseHookInput(AnyHook, raw);
  if (event === "Elicitation") return { is: "call", call: formCall(parseHookInput(FormHook, raw)) };
  if (!ToolHook.shape.hook_event_name.safeParse(event).success) return { is: "other" };
  const hook = parseHookInput(ToolHook, raw);
  const session = hook.session_id;
  if (event !== "PreToolUse") return { is: "over", session, key: callKey(session, hook.tool_use_id) };
  if (OWN_TOOL.test(hook.tool_name)) return { is: "other" };
  const call = toolCall({
    event,
    session,
    dir: hook.cwd,
    tool: hook.tool_name,
    input: hook.tool_input,
    toolUseId: hook.tool_use_id,
    isSubagent: Boolean(hook.agent_id),
  });
  return { is: "call", call: { ...call, mode: hook.permission_mode } };
}

function formCall(hook: z.infer<typeof FormHook>): HookCall {
  if (hook.mode !== "form")
    throw new Refusal("bad_input", `A form of the mode ${quoteLine(hook.mode)} cannot be asked`);
  return {
    is: "form",
    event: hook.hook_event_name,
    session: hook.session_id,
    dir: hook.cwd,
    key: undefined,
    tool: hook.mcp_server_name,
    input: hook.requested_schema,
    isSubagent: false,
    ask: formAsk(hook.message, hook.requested_schema),
    // The server behind the form can take nothing but what it asked for.
    door: { accepts: ["answer"] },
  };
}

function sayTool(call: HookCall, reply: HookReply, delimiter: string): Record<string, unknown> | undefined {
  if (reply.do === "pass") return undefined;
  if (reply.do === "park") return { permissionDecision: "defer" };
  if (reply.do === "deny") return { permissionDecision: "deny", permissionDecisionReason: reply.why };
  return {
    permissionDecision: "allow",
    ...updatedInput(call, reply.read, delimiter),
    additionalContext: [sayBeside(reply, delimiter), reply.note].filter(Boolean).join("\n\n"),
  };
}

/** The words beside the result of the call: who answered, and the answer itself where the result may be lost. */
function sayBeside({ read, isResultLost }: Extract<HookReply, { do: "give" }>, delimiter: string): string {
  if (!isResultLost) return provenanceMessage(read, delimiter);
  return [SAID_TWICE, answerMessage({ reads: [read], delimiter })].join("\n\n");
}

/** The version of the program that runs the hook: newer ones name it themselves, and a worker names it for its runs. */
function findVersion(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(env["AI_AGENT"] ?? "");
  if (named) return named.slice(1).join(".");
  return env[AGENT_VERSION] ?? (env["CLAUDE_CODE_SESSION_ATTENDED"] === undefined ? NAMELESS : undefined);
}

/** The input with which the tool runs, where it is not the one that it was called with. */
function updatedInput(call: HookCall, read: QuestionSnapshot, delimiter: string) {
  if (call.is === "question") return { updatedInput: answeredInput(call, read, delimiter) };
  const allowed = allowedInput(read, call.input);
  return allowed === call.input ? {} : { updatedInput: allowed };
}

/** A form is filled in or declined; one that nobody has dealt with in time is left to the client. */
function sayForm(call: HookCall, reply: HookReply): Record<string, unknown> | undefined {
  if (reply.do === "give") return { action: "accept", content: readForm(call.input, reply.read) };
  return reply.do === "deny" ? { action: "decline" } : undefined;
}

function answerTo(call: HookCall, read: QuestionSnapshot, index: number, delimiter: string): string | undefined {
  const labels = parseHookInput(QuestionInput, call.input).questions[index]?.options.map(({ label }) => label) ?? [];
  const words = answerWords(read, index, { labels, delimiter, ends: ENDS });
  return words.length > 0 ? words.join(", ") : undefined;
}
