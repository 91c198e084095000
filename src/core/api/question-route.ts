import { z } from "zod";
import { AnswerBody } from "../answer-input.ts";
import { QuestionId, RunId } from "../id.ts";
import { PersonName } from "../link.ts";
import { AfterHold } from "../question.ts";
import { AskBody, SeenBody } from "./ask-body.ts";
import { countReply, doneReply, linkReply, questionReply, questionsReply, textReply } from "./reply.ts";
import { Duration, EVERYONE, Limit, Moment, OfQuestion, Order, PEOPLE, route } from "./route.ts";

/** The states of a question, also by the names that other systems have for them. */
export const StatusQuery = z
  .enum(["pending", "answered", "timeout", "cancelled", "expired"])
  .transform((status) => (status === "expired" ? "timeout" : status));

const Text = z.string().max(64 * 1024);
const AnswerWithName = AnswerBody.extend({
  answered_by: z.string().min(1).max(200).optional().describe("Counts only with a token that may act on behalf"),
  answeredBy: z.string().min(1).max(200).optional(),
});

/** Asking and answering. */
export const QUESTION_ROUTES = {
  ask: route({
    ...{ method: "POST", path: "/questions", scopes: EVERYONE, summary: "Ask a question" },
    body: AskBody,
    reply: doneReply,
  }),
  listQuestions: route({
    ...{ method: "GET", path: "/questions", scopes: EVERYONE, summary: "Questions, newest first" },
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
    ...{ method: "GET", path: "/questions/count", scopes: PEOPLE, summary: "How many questions are in a state" },
    query: z.object({ status: StatusQuery.default("pending") }),
    reply: countReply,
  }),
  findAsked: route({
    ...{ method: "GET", path: "/questions/asked", scopes: EVERYONE },
    summary: "What was asked under that name and is still open",
    query: z.object({ as: z.string().min(1).max(200) }),
    reply: questionsReply,
  }),
  read: route({
    ...{ method: "GET", path: "/questions/{id}", scopes: EVERYONE, summary: "One question" },
    params: OfQuestion,
    reply: questionReply,
  }),
  wait: route({
    ...{ method: "GET", path: "/questions/{id}/wait", scopes: EVERYONE },
    summary: "One question, once it is closed, or at that time as it is then; at most 25 s",
    params: OfQuestion,
    query: z.object({ until: Moment.optional() }),
    reply: questionReply,
  }),
  answer: route({
    ...{ method: "POST", path: "/questions/{id}/answer", scopes: PEOPLE, summary: "Answer, or vote towards a quorum" },
    params: OfQuestion,
    body: AnswerWithName,
    reply: doneReply,
  }),
  preview: route({
    ...{ method: "POST", path: "/questions/{id}/preview", scopes: PEOPLE },
    summary: "What the agent would be told; changes nothing",
    params: OfQuestion,
    body: AnswerWithName,
    reply: textReply,
  }),
  undo: route({
    ...{
      method: "POST",
      path: "/questions/{id}/undo",
      scopes: PEOPLE,
      summary: "Take an answer back while it settles",
    },
    params: OfQuestion,
    reply: questionReply,
  }),
  amend: route({
    ...{ method: "POST", path: "/questions/{id}/amend", scopes: PEOPLE, summary: "Correct an answer afterwards" },
    params: OfQuestion,
    body: z.object({ text: Text, resume: z.boolean().optional() }),
    reply: questionReply,
  }),
  claim: route({
    ...{ method: "POST", path: "/questions/{id}/claim", scopes: PEOPLE, summary: "Say that you are on it" },
    params: OfQuestion,
    reply: questionReply,
  }),
  release: route({
    ...{ method: "POST", path: "/questions/{id}/release", scopes: PEOPLE, summary: "Give a claim back" },
    params: OfQuestion,
    reply: questionReply,
  }),
  assign: route({
    ...{ method: "POST", path: "/questions/{id}/assign", scopes: PEOPLE, summary: "Name the people it is for" },
    params: OfQuestion,
    body: z.object({ to: z.array(z.string().max(200)).max(50) }),
    reply: questionReply,
  }),
  snooze: route({
    ...{ method: "POST", path: "/questions/{id}/snooze", scopes: PEOPLE, summary: "Keep it out of sight until then" },
    params: OfQuestion,
    body: z.object({ until: Moment }),
    reply: questionReply,
  }),
  extend: route({
    ...{ method: "POST", path: "/questions/{id}/extend", scopes: PEOPLE, summary: "Move the deadline" },
    params: OfQuestion,
    body: z.object({ by: Duration }),
    reply: questionReply,
  }),
  comment: route({
    ...{ method: "POST", path: "/questions/{id}/comment", scopes: PEOPLE, summary: "A remark for other people" },
    params: OfQuestion,
    body: z.object({ text: Text }),
    reply: questionReply,
  }),
  issueLink: route({
    ...{ method: "POST", path: "/questions/{id}/links", scopes: PEOPLE },
    summary: "An address where one person answers this question without signing in",
    params: OfQuestion,
    body: z.object({ person: PersonName }),
    reply: linkReply,
  }),
  escalate: route({
    ...{ method: "POST", path: "/questions/{id}/escalate", scopes: PEOPLE, summary: "Take the next escalation step" },
    params: OfQuestion,
    reply: questionReply,
  }),
  cancel: route({
    ...{ method: "POST", path: "/questions/{id}/cancel", scopes: EVERYONE, summary: "Withdraw a question" },
    params: OfQuestion,
    body: z.object({ reason: Text.optional(), resume: Text.optional() }),
    reply: questionReply,
  }),
  hold: route({
    ...{ method: "POST", path: "/questions/{id}/hold", scopes: EVERYONE },
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
    ...{ method: "POST", path: "/questions/{id}/end-hold", scopes: EVERYONE, summary: "The holder stops waiting" },
    params: OfQuestion,
    body: z.object({ why: z.enum(["window", "gone"]) }),
    reply: questionReply,
  }),
  handOver: route({
    ...{ method: "POST", path: "/questions/{id}/hand-over", scopes: EVERYONE },
    summary: "The outcome is about to be written out to the agent",
    params: OfQuestion,
    body: z.object({ epoch: z.int().optional(), holder: z.string().max(200).optional() }),
    reply: questionReply,
  }),
  given: route({
    ...{ method: "POST", path: "/questions/{id}/given", scopes: EVERYONE, summary: "The agent has the outcome" },
    params: OfQuestion,
    body: z.object({ witness: z.string().min(1).max(200), epoch: z.int().optional() }),
    reply: questionReply,
  }),
};
