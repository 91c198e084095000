import { z } from "zod";
import { AnswerBody } from "../answer/answer-input.ts";
import { QuestionId, RunId } from "../id.ts";
import { PersonName } from "../question/link.ts";
import { AfterHold } from "../question/question.ts";
import { AskBody, SeenBody } from "./ask-body.ts";
import { countReply, doneReply, linkReply, questionReply, questionsReply, textReply } from "./reply.ts";
import { Duration, Limit, Moment, OfQuestion, Order, route } from "./route.ts";

/** The states of a question, also by the names that other systems have for them. */
export const StatusQuery = z
  .enum(["pending", "answered", "timeout", "cancelled", "expired"])
  .transform((status) => (status === "expired" ? "timeout" : status));

const Text = z.string().max(64 * 1024);
const Confirmed = z.boolean().optional().describe("At high risk: the person has read what follows from it");
const AnswerWithName = AnswerBody.extend({
  answered_by: z.string().min(1).max(200).optional().describe("Counts only with a token that may act on behalf"),
  answeredBy: z.string().min(1).max(200).optional(),
});

/** Asking and answering. */
export const QUESTION_ROUTES = {
  ask: route("POST", "/questions", {
    may: "ask",
    summary: "Ask a question",
    body: AskBody,
    reply: doneReply,
  }),
  listQuestions: route("GET", "/questions", {
    may: "look",
    summary: "Questions, newest first",
    query: z.object({
      status: StatusQuery.optional(),
      run: RunId.optional(),
      find: z.string().max(200).optional().describe("Words that the title or the names of the run have"),
      order: Order.default("newest"),
      after: QuestionId.optional(),
      limit: Limit,
    }),
    reply: questionsReply,
  }),
  countQuestions: route("GET", "/questions/count", {
    may: "see_all",
    summary: "How many questions are in a state",
    query: z.object({ status: StatusQuery.default("pending") }),
    reply: countReply,
  }),
  findAsked: route("GET", "/questions/asked", {
    may: "look",
    summary: "What was asked under that name and is still open",
    query: z.object({ as: z.string().min(1).max(200) }),
    reply: questionsReply,
  }),
  read: route("GET", "/questions/{id}", {
    may: "look",
    summary: "One question",
    params: OfQuestion,
    takes: ["id"],
    reply: questionReply,
  }),
  wait: route("GET", "/questions/{id}/wait", {
    may: "look",
    summary: "One question, once it is closed, or at that time as it is then; at most 25 s",
    params: OfQuestion,
    query: z.object({ until: Moment.optional() }),
    reply: questionReply,
  }),
  answer: route("POST", "/questions/{id}/answer", {
    may: "answer",
    summary: "Answer, or vote towards a quorum",
    params: OfQuestion,
    body: AnswerWithName,
    reply: doneReply,
  }),
  preview: route("POST", "/questions/{id}/preview", {
    may: "answer",
    summary: "What the agent would be told; changes nothing",
    params: OfQuestion,
    body: AnswerWithName,
    reply: textReply,
  }),
  undo: route("POST", "/questions/{id}/undo", {
    may: "undo",
    summary: "Take an answer back while it settles",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  amend: route("POST", "/questions/{id}/amend", {
    may: "amend",
    summary: "Correct an answer afterwards",
    params: OfQuestion,
    body: z.object({ text: Text, resume: z.boolean().optional(), confirmed: Confirmed }),
    takes: ["id", "body.text", "by", "once"],
    reply: questionReply,
  }),
  claim: route("POST", "/questions/{id}/claim", {
    may: "claim",
    summary: "Say that you are on it",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  release: route("POST", "/questions/{id}/release", {
    may: "release",
    summary: "Give a claim back",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  assign: route("POST", "/questions/{id}/assign", {
    may: "assign",
    summary: "Name the people it is for",
    params: OfQuestion,
    body: z.object({ to: z.array(z.string().max(200)).max(50) }),
    takes: ["id", "body.to", "by", "once"],
    reply: questionReply,
  }),
  snooze: route("POST", "/questions/{id}/snooze", {
    may: "snooze",
    summary: "Keep it out of sight until then",
    params: OfQuestion,
    body: z.object({ until: Moment }),
    takes: ["id", "body.until", "by", "once"],
    reply: questionReply,
  }),
  extend: route("POST", "/questions/{id}/extend", {
    may: "extend",
    summary: "Move the deadline",
    params: OfQuestion,
    body: z.object({ by: Duration }),
    reply: questionReply,
  }),
  comment: route("POST", "/questions/{id}/comment", {
    may: "comment",
    summary: "A remark for other people",
    params: OfQuestion,
    body: z.object({ text: Text }),
    takes: ["id", "body.text", "by", "once"],
    reply: questionReply,
  }),
  issueLink: route("POST", "/questions/{id}/links", {
    may: "link",
    summary: "An address where one person answers this question without signing in",
    params: OfQuestion,
    body: z.object({ person: PersonName }),
    takes: ["id", "body.person", "by"],
    reply: linkReply,
  }),
  escalate: route("POST", "/questions/{id}/escalate", {
    may: "escalate",
    summary: "Take the next escalation step",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  cancel: route("POST", "/questions/{id}/cancel", {
    may: "cancel",
    summary: "Withdraw a question",
    params: OfQuestion,
    body: z.object({ reason: Text.optional(), resume: Text.optional(), confirmed: Confirmed }),
    takes: ["id", "once", "by"],
    reply: questionReply,
  }),
  hold: route("POST", "/questions/{id}/hold", {
    may: "take_outcome",
    summary: "Another call waits for it from now on, unless one does that may be alive",
    params: OfQuestion,
    body: z.object({
      window: Duration,
      after: AfterHold.default("park"),
      holder: z.string().min(1).max(200).optional(),
      gone: z.string().max(200).optional(),
      session: z.string().max(800).optional(),
      seen: SeenBody.optional(),
    }),
    reply: doneReply,
  }),
  endHold: route("POST", "/questions/{id}/end-hold", {
    may: "take_outcome",
    summary: "The holder stops waiting",
    params: OfQuestion,
    body: z.object({ why: z.enum(["window", "gone"]) }),
    takes: ["id", "body.why"],
    mayRepeat: true,
    reply: questionReply,
  }),
  handOver: route("POST", "/questions/{id}/hand-over", {
    may: "take_outcome",
    summary: "The outcome is about to be written out to the agent",
    params: OfQuestion,
    body: z.object({ epoch: z.int().optional(), holder: z.string().max(200).optional() }),
    takes: ["id", "body.epoch", "body.holder"],
    mayRepeat: true,
    reply: questionReply,
  }),
  given: route("POST", "/questions/{id}/given", {
    may: "take_outcome",
    summary: "The agent has the outcome",
    params: OfQuestion,
    body: z.object({ witness: z.string().min(1).max(200), epoch: z.int().optional() }),
    takes: ["id", "body.witness", "body.epoch"],
    mayRepeat: true,
    reply: questionReply,
  }),
};
