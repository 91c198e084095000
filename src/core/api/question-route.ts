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
  ask: route({
    ...{ method: "POST", path: "/questions", may: "ask", summary: "Ask a question" },
    body: AskBody,
    reply: doneReply,
  }),
  listQuestions: route({
    ...{ method: "GET", path: "/questions", may: "look", summary: "Questions, newest first" },
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
  countQuestions: route({
    ...{ method: "GET", path: "/questions/count", may: "see_all", summary: "How many questions are in a state" },
    query: z.object({ status: StatusQuery.default("pending") }),
    reply: countReply,
  }),
  findAsked: route({
    ...{ method: "GET", path: "/questions/asked", may: "look" },
    summary: "What was asked under that name and is still open",
    query: z.object({ as: z.string().min(1).max(200) }),
    reply: questionsReply,
  }),
  read: route({
    ...{ method: "GET", path: "/questions/{id}", may: "look", summary: "One question" },
    params: OfQuestion,
    reply: questionReply,
  }),
  wait: route({
    ...{ method: "GET", path: "/questions/{id}/wait", may: "look" },
    summary: "One question, once it is closed, or at that time as it is then; at most 25 s",
    params: OfQuestion,
    query: z.object({ until: Moment.optional() }),
    reply: questionReply,
  }),
  answer: route({
    ...{ method: "POST", path: "/questions/{id}/answer", may: "answer", summary: "Answer, or vote towards a quorum" },
    params: OfQuestion,
    body: AnswerWithName,
    reply: doneReply,
  }),
  preview: route({
    ...{ method: "POST", path: "/questions/{id}/preview", may: "answer" },
    summary: "What the agent would be told; changes nothing",
    params: OfQuestion,
    body: AnswerWithName,
    reply: textReply,
  }),
  undo: route({
    ...{
      method: "POST",
      path: "/questions/{id}/undo",
      may: "undo",
      summary: "Take an answer back while it settles",
    },
    params: OfQuestion,
    reply: questionReply,
  }),
  amend: route({
    ...{ method: "POST", path: "/questions/{id}/amend", may: "amend", summary: "Correct an answer afterwards" },
    params: OfQuestion,
    body: z.object({ text: Text, resume: z.boolean().optional(), confirmed: Confirmed }),
    reply: questionReply,
  }),
  claim: route({
    ...{ method: "POST", path: "/questions/{id}/claim", may: "claim", summary: "Say that you are on it" },
    params: OfQuestion,
    reply: questionReply,
  }),
  release: route({
    ...{ method: "POST", path: "/questions/{id}/release", may: "release", summary: "Give a claim back" },
    params: OfQuestion,
    reply: questionReply,
  }),
  assign: route({
    ...{ method: "POST", path: "/questions/{id}/assign", may: "assign", summary: "Name the people it is for" },
    params: OfQuestion,
    body: z.object({ to: z.array(z.string().max(200)).max(50) }),
    reply: questionReply,
  }),
  snooze: route({
    ...{ method: "POST", path: "/questions/{id}/snooze", may: "snooze", summary: "Keep it out of sight until then" },
    params: OfQuestion,
    body: z.object({ until: Moment }),
    reply: questionReply,
  }),
  extend: route({
    ...{ method: "POST", path: "/questions/{id}/extend", may: "extend", summary: "Move the deadline" },
    params: OfQuestion,
    body: z.object({ by: Duration }),
    reply: questionReply,
  }),
  comment: route({
    ...{ method: "POST", path: "/questions/{id}/comment", may: "comment", summary: "A remark for other people" },
    params: OfQuestion,
    body: z.object({ text: Text }),
    reply: questionReply,
  }),
  issueLink: route({
    ...{ method: "POST", path: "/questions/{id}/links", may: "link" },
    summary: "An address where one person answers this question without signing in",
    params: OfQuestion,
    body: z.object({ person: PersonName }),
    reply: linkReply,
  }),
  escalate: route({
    ...{ method: "POST", path: "/questions/{id}/escalate", may: "escalate", summary: "Take the next escalation step" },
    params: OfQuestion,
    reply: questionReply,
  }),
  cancel: route({
    ...{ method: "POST", path: "/questions/{id}/cancel", may: "cancel", summary: "Withdraw a question" },
    params: OfQuestion,
    body: z.object({ reason: Text.optional(), resume: Text.optional(), confirmed: Confirmed }),
    reply: questionReply,
  }),
  hold: route({
    ...{ method: "POST", path: "/questions/{id}/hold", may: "take_outcome" },
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
  endHold: route({
    ...{ method: "POST", path: "/questions/{id}/end-hold", may: "take_outcome", summary: "The holder stops waiting" },
    params: OfQuestion,
    body: z.object({ why: z.enum(["window", "gone"]) }),
    reply: questionReply,
  }),
  handOver: route({
    ...{ method: "POST", path: "/questions/{id}/hand-over", may: "take_outcome" },
    summary: "The outcome is about to be written out to the agent",
    params: OfQuestion,
    body: z.object({ epoch: z.int().optional(), holder: z.string().max(200).optional() }),
    reply: questionReply,
  }),
  given: route({
    ...{ method: "POST", path: "/questions/{id}/given", may: "take_outcome", summary: "The agent has the outcome" },
    params: OfQuestion,
    body: z.object({ witness: z.string().min(1).max(200), epoch: z.int().optional() }),
    reply: questionReply,
  }),
};
