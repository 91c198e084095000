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
    summary: "List questions, newest first",
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
    summary: "Count the questions in a state",
    query: z.object({ status: StatusQuery.default("pending") }),
    reply: countReply,
  }),
  findAsked: route("GET", "/questions/asked", {
    may: "look",
    summary: "Find the open question that was asked under a name",
    query: z.object({ as: z.string().min(1).max(200) }),
    reply: questionsReply,
  }),
  read: route("GET", "/questions/{id}", {
    may: "look",
    summary: "Get a question",
    params: OfQuestion,
    takes: ["id"],
    reply: questionReply,
  }),
  wait: route("GET", "/questions/{id}/wait", {
    may: "look",
    summary: "Wait until a question is closed, for at most 25 s, and get it",
    params: OfQuestion,
    query: z.object({ until: Moment.optional() }),
    reply: questionReply,
  }),
  answer: route("POST", "/questions/{id}/answer", {
    may: "answer",
    summary: "Answer a question, or vote towards its quorum",
    params: OfQuestion,
    body: AnswerWithName,
    reply: doneReply,
  }),
  preview: route("POST", "/questions/{id}/preview", {
    may: "answer",
    summary: "Preview what the agent would get; changes nothing",
    params: OfQuestion,
    body: AnswerWithName,
    reply: textReply,
  }),
  undo: route("POST", "/questions/{id}/undo", {
    may: "undo",
    summary: "Undo an answer within its undo window",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  amend: route("POST", "/questions/{id}/amend", {
    may: "amend",
    summary: "Correct an answer after its undo window",
    params: OfQuestion,
    body: z.object({ text: Text, resume: z.boolean().optional(), confirmed: Confirmed }),
    takes: ["id", "body.text", "by", "once"],
    reply: questionReply,
  }),
  claim: route("POST", "/questions/{id}/claim", {
    may: "claim",
    summary: "Claim a question",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  release: route("POST", "/questions/{id}/release", {
    may: "release",
    summary: "Release a claim",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  assign: route("POST", "/questions/{id}/assign", {
    may: "assign",
    summary: "Assign a question to people",
    params: OfQuestion,
    body: z.object({ to: z.array(z.string().max(200)).max(50) }),
    takes: ["id", "body.to", "by", "once"],
    reply: questionReply,
  }),
  snooze: route("POST", "/questions/{id}/snooze", {
    may: "snooze",
    summary: "Hide a question until a time",
    params: OfQuestion,
    body: z.object({ until: Moment }),
    takes: ["id", "body.until", "by", "once"],
    reply: questionReply,
  }),
  extend: route("POST", "/questions/{id}/extend", {
    may: "extend",
    summary: "Extend the deadline",
    params: OfQuestion,
    body: z.object({ by: Duration }),
    reply: questionReply,
  }),
  comment: route("POST", "/questions/{id}/comment", {
    may: "comment",
    summary: "Comment on a question, for other people",
    params: OfQuestion,
    body: z.object({ text: Text }),
    takes: ["id", "body.text", "by", "once"],
    reply: questionReply,
  }),
  issueLink: route("POST", "/questions/{id}/links", {
    may: "link",
    summary: "Create a link by which one person answers this question without signing in",
    params: OfQuestion,
    body: z.object({ person: PersonName }),
    takes: ["id", "body.person", "by"],
    reply: linkReply,
  }),
  escalate: route("POST", "/questions/{id}/escalate", {
    may: "escalate",
    summary: "Escalate a question to its next step",
    params: OfQuestion,
    takes: ["id", "by", "once"],
    reply: questionReply,
  }),
  cancel: route("POST", "/questions/{id}/cancel", {
    may: "cancel",
    summary: "Cancel a question",
    params: OfQuestion,
    body: z.object({ reason: Text.optional(), resume: Text.optional(), confirmed: Confirmed }),
    takes: ["id", "once", "by"],
    reply: questionReply,
  }),
  hold: route("POST", "/questions/{id}/hold", {
    may: "take_outcome",
    summary: "Hold a question with a new call, unless a call that may be alive holds it",
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
    summary: "End the hold of a question",
    params: OfQuestion,
    body: z.object({ why: z.enum(["window", "gone"]) }),
    takes: ["id", "body.why"],
    mayRepeat: true,
    reply: questionReply,
  }),
  handOver: route("POST", "/questions/{id}/hand-over", {
    may: "take_outcome",
    summary: "Record that the outcome is being sent to the agent",
    params: OfQuestion,
    body: z.object({ epoch: z.int().optional(), holder: z.string().max(200).optional() }),
    takes: ["id", "body.epoch", "body.holder"],
    mayRepeat: true,
    reply: questionReply,
  }),
  given: route("POST", "/questions/{id}/given", {
    may: "take_outcome",
    summary: "Record that the agent has the outcome",
    params: OfQuestion,
    body: z.object({ witness: z.string().min(1).max(200), epoch: z.int().optional() }),
    takes: ["id", "body.witness", "body.epoch"],
    mayRepeat: true,
    reply: questionReply,
  }),
};
