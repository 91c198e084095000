import { z } from "zod";
import { approvalAsk } from "../../core/question/approval.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { WORDS_CHARS, quoteLine } from "../../core/text/foreign-text.ts";
import { provenanceMessage } from "../../core/run/agent-message.ts";
import { findAnswer } from "../../core/question/question.ts";
import { callKey } from "../../core/door/call-key.ts";
import {
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookReply,
  SERVED,
  answerWords,
  parseHookInput,
} from "../../core/door/hook.ts";

/** Its model reads the answers between double quotes, with our remarks among them in round brackets. */
const ENDS = /["()]/;
const QUESTION = "question.asked";
const PERMISSION = "permission.asked";

const AnyEvent = z.looseObject({ type: z.string(), properties: z.unknown() });
const Asked = z.looseObject({
  id: z.string().min(1),
  sessionID: z.string().min(1),
  tool: z.looseObject({ callID: z.string() }).nullish(),
});
const Questions = z.looseObject({
  questions: z.array(z.looseObject({ options: z.array(z.looseObject({ label: z.string() })).nullish() })),
});
const Permission = Asked.extend({
  permission: z.string().min(1),
  patterns: z.array(z.string()).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
});

/** OpenCode as a server: it asks its client, which is us, and can be parked by aborting its turn. */
export const opencodeRequests: HookClient = {
  agent: "opencode",
  ...SERVED,
  parse: parseEvent,
  say: sayBody,
};

function parseEvent(raw: unknown): HookEvent {
  const { type, properties } = parseHookInput(AnyEvent, raw);
  if (type === QUESTION)
    return { is: "call", call: questionCall(parseHookInput(Asked.extend(Questions.shape), properties)) };
  if (type === PERMISSION) return { is: "call", call: permissionCall(parseHookInput(Permission, properties)) };
  return { is: "other" };
}

function questionCall(asked: z.infer<typeof Asked> & z.infer<typeof Questions>): HookCall {
  const { sessionID: session, questions } = asked;
  return {
    is: "question",
    event: QUESTION,
    session,
    dir: undefined,
    isSubagent: false,
    key: callKey(session, asked.tool?.callID ?? asked.id),
    tool: "question",
    input: { questions },
    ask: { questions },
    door: {},
  };
}

/** One call may need leave for several things, so it is the request that names it. */
function permissionCall(asked: z.infer<typeof Permission>): HookCall {
  const { sessionID: session, permission: tool, patterns, metadata } = asked;
  const use = { tool, input: { patterns, ...metadata } };
  return {
    is: "approval",
    event: PERMISSION,
    session,
    dir: undefined,
    isSubagent: false,
    key: callKey(session, asked.id),
    ...use,
    ask: approvalAsk(use),
    door: {},
  };
}

/** The body of the reply to the request; a call that is parked gets none. */
function sayBody(call: HookCall, reply: HookReply, delimiter: string): object | undefined {
  if (reply.do === "park" || reply.do === "pass") return undefined;
  if (call.is === "question") return { answers: answersTo(call, reply, delimiter) };
  return reply.do === "give" ? { reply: "once" } : { reply: "reject", message: reply.why };
}

/**
 * One list for each question, in the model's own words; behind the first one stands who answered. A question that was
 * rejected would end the turn without a reason, so a refusal is told in the place of an answer.
 */
function answersTo(call: HookCall, reply: Extract<HookReply, { do: "give" | "deny" }>, delimiter: string): string[][] {
  const { questions } = parseHookInput(Questions, call.input);
  if (reply.do === "deny") return questions.map((_, index) => (index === 0 ? [`(no answer) ${reply.why}`] : []));
  const { read } = reply;
  return questions.map(({ options }, index) => {
    const labels = (options ?? []).map(({ label }) => label);
    const given = answerWords(read, index, { labels, delimiter, ends: ENDS });
    return index === 0 ? [...given, ...remarks(read, delimiter)] : given;
  });
}

function remarks(read: QuestionSnapshot, delimiter: string): string[] {
  const answer = findAnswer(read.question);
  const note = answer?.outcome === "answer" ? answer.note : undefined;
  const told = provenanceMessage(read, delimiter);
  return [...(note === undefined ? [] : [`(note: ${quoteLine(note, WORDS_CHARS)})`]), answer ? `(${told})` : told];
}
