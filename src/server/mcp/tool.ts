import type * as sdk from "@modelcontextprotocol/server";
import { ADDRESS_IGNORED, ignoredAddresses } from "../../core/channel/allowed-address.ts";
import { unreachedChannels } from "../../core/channel/announce.ts";
import { z } from "zod";
import { actorName } from "../../core/people/actor.ts";
import { describeIssue } from "../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { valuesOf } from "../../core/api/view.ts";
import { answerText } from "../../core/answer/match.ts";
import { type Answer, type Question, findAnswer, isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { approve, askHuman, askOnly } from "./ask.ts";
import { askerOf, getOwnQuestion } from "./asker.ts";
import type { ToolCall, ToolResult } from "./caller.ts";
import { handOver, holdFor, windowFor } from "./hand-over.ts";
import { howAnswered, plainResult, resultOf } from "./result.ts";

const ASK_USER_WINDOW_MS = 3 * MINUTE_MS;

/** A JSON schema as tools publish it. They teach the good shape and let every other one through. */
type InputSchema = sdk.Tool["inputSchema"];
type Json = string | boolean | Json[] | { [name: string]: Json };

const OPTION = {
  anyOf: [
    { type: "string" },
    object({
      label: string("A few words"),
      description: string("What follows from this choice"),
      value: string("What the answer holds; the label if left out"),
      recommended: { type: "boolean", description: "The one you would take" },
    }),
  ],
};
const QUESTION = object({
  question: string("One sentence that ends in a question mark"),
  header: string("One or two words that name it"),
  options: array(OPTION),
  multiSelect: { type: "boolean", description: "Several options may be chosen" },
});
const QUESTION_ID = string("As ask_human returned it; your last question if left out");
const TIMEOUT = { type: "number", description: "How long to wait here; the question stays afterwards" };

export interface Tool {
  title: string;
  description: string;
  inputSchema: InputSchema;
  run(call: ToolCall): Promise<ToolResult>;
}

/** Every tool by its name, in the order of the list. */
export const TOOLS = {
  ask_human: {
    title: "Ask a person",
    description:
      "Ask a person and wait for the answer. Use it when you are really stuck or a wrong guess would be costly. " +
      "If the result says to stop, end your turn: the question is kept.",
    inputSchema: object({
      question: string("One sentence that ends in a question mark"),
      options: array(OPTION, "What can be chosen, with what follows from each"),
      context: string("What a person needs to know to decide, as Markdown"),
      questions: array(QUESTION, "Instead of question: several that belong together"),
      risk: { type: "string", enum: ["low", "medium", "high"], description: "What a wrong answer could do" },
      confidence: { type: "number", description: "How sure you are of the recommended option, 0 to 1" },
      timeout_seconds: TIMEOUT,
    }),
    run: (call) => askHuman(call, { via: "mcp" }),
  },
  check_answer: {
    title: "Look for an answer",
    description: "Wait for the answer to a question that was asked before.",
    inputSchema: object({ question_id: QUESTION_ID, timeout_seconds: TIMEOUT }),
    run: checkAnswer,
  },
  cancel_question: {
    title: "Withdraw a question",
    description: "Withdraw a question whose answer is not needed any more.",
    inputSchema: object({ question_id: QUESTION_ID, reason: string("Why no answer is needed any more") }),
    run: cancelQuestion,
  },
  post_question: {
    title: "Post a question",
    description:
      "Post a question to people and return at once. Later call check_answer with its questionId. " +
      "notificationsSent names the channels for which a message was stored with the question; it is sent afterwards.",
    inputSchema: object(
      {
        issueNumber: { type: "number" },
        question: string(),
        options: array(
          object({ value: string(), label: string(), description: string(), isDefault: { type: "boolean" } }),
        ),
        context: string(),
        notifyVia: array(string(), "github, slack, email"),
        timeoutHours: { type: "number" },
        timeoutAction: {
          description: 'skip, default or fail; or {"type": "escalate", "assignTo": "lena"}',
          anyOf: [string(), { type: "object", additionalProperties: true }],
        },
        defaultAnswer: string(),
        slackChannel: string(),
        slackMention: array(string()),
        emailRecipients: array(string()),
      },
      ["question"],
    ),
    run: postQuestion,
  },
  AskUser: {
    title: "Ask the user",
    description:
      "Ask the user and wait up to three minutes. Use it only where a wrong guess would be costly or cannot be undone.",
    inputSchema: object({ question: string("What you need to know") }, ["question"]),
    run: (call) => {
      const holdMs = call.deps.holdMs ?? ASK_USER_WINDOW_MS;
      return askHuman(call, { via: "mcp", isForeign: true, holdMs, afterHold: "proceed" });
    },
  },
  AskUserQuestion: {
    title: "Ask the user and stop",
    description: "Ask the user one or more questions. Then end your turn at once: you go on when they have answered.",
    inputSchema: object({ questions: array(QUESTION) }, ["questions"]),
    run: askUserQuestion,
  },
  approve: {
    title: "Ask for permission",
    description: "Ask a person whether a tool may be used. It is called by the program, not by its model.",
    inputSchema: object(
      { tool_name: string(), input: { type: "object", additionalProperties: true }, tool_use_id: string() },
      ["tool_name", "input", "tool_use_id"],
    ),
    run: approve,
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

export const DEFAULT_TOOLS: readonly ToolName[] = ["ask_human", "check_answer", "cancel_question"];
function object(properties: Record<string, Json>, required?: string[]) {
  const schema = { type: "object" as const, properties };
  return required ? { ...schema, required } : schema;
}

function string(description?: string): Json {
  return description === undefined ? { type: "string" } : { type: "string", description };
}

function array(items: Json, description?: string): Json {
  return description === undefined ? { type: "array", items } : { type: "array", items, description };
}

/** Reads which tools to offer; their order is always that of the table. */
export function parseTools(text: string): ToolName[] {
  const names = Object.keys(TOOLS) as ToolName[]; // the keys of the table above
  const wanted = text.split(",").map((name) => name.trim());
  const unknown = wanted.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) {
    throw new Refusal("bad_input", `There is no tool ${quoteLine(unknown)}`, {
      hint: `Choose from: ${names.join(", ")}`,
    });
  }
  return names.filter((name) => wanted.includes(name));
}

const QuestionRef = z.looseObject({
  question_id: z.string().optional(),
  /** The same in the words of the workflow tools, which look and do not wait. */
  questionId: z.string().optional(),
  timeout_seconds: z.number().nonnegative().optional(),
  reason: z.string().optional(),
});

async function checkAnswer(call: ToolCall): Promise<ToolResult> {
  const ref = parse(QuestionRef, call.input);
  const read = await getOwnQuestion(call, ref.question_id ?? ref.questionId);
  if (ref.questionId !== undefined) {
    const given = await handOver(call, read);
    return { ...given, ...plainResult(viewAnswer(read)) };
  }
  const wantedMs = ref.timeout_seconds === undefined ? call.deps.rules.liveWindowMs : ref.timeout_seconds * SECOND_MS;
  return holdFor(call, { read, isHeld: false }, wantedMs === 0 ? 0 : windowFor(call, wantedMs));
}

/** A question as workflow tools see it: the value of the chosen option, and its label. */
function viewAnswer({ question, content }: QuestionSnapshot): Record<string, unknown> {
  const answer = findAnswer(question);
  if (!answer) {
    const withdrawn = question.status === "cancelled" && { reason: question.reason, note: question.note };
    return { status: question.status, ...withdrawn };
  }
  const isChosen = answer.outcome === "answer";
  return {
    status: question.status,
    answer: isChosen ? valuesOf(answer, content).join(content.items.length === 1 ? "," : "\n") : sayOutcome(answer),
    ...(isChosen && { label: answerText(content, answer.items) }),
    answeredBy: actorName(answer.by),
    answeredAt: answer.at,
    ...viewHow(question, answer),
  };
}

function sayOutcome({ note, outcome }: Answer) {
  return note ?? outcome;
}

/** Fields that distinguish an answer from one that a person chose in time: outcome, policy, forced, votes. */
function viewHow(question: Question, answer: Answer): Record<string, unknown> {
  const { votes_needed: votesNeeded, ...how } = howAnswered(question, answer);
  return {
    ...(answer.outcome !== "answer" && { outcome: answer.outcome }),
    policy: answer.policy,
    ...how,
    ...(votesNeeded !== undefined && { votesNeeded }),
  };
}

async function cancelQuestion(call: ToolCall) {
  const ref = parse(QuestionRef, call.input);
  const { question } = await getOwnQuestion(call, ref.question_id ?? ref.questionId);
  const { owner } = await askerOf(call);
  const isOpen = isPending(question);
  const reason = ref.reason?.trim();
  if (isOpen) await call.deps.engine.cancel(question.id, reason ? { reason } : {}, owner);
  return plainResult({ success: isOpen, previousStatus: question.status });
}

async function postQuestion(call: ToolCall) {
  const { question, run } = await askOnly(call, { via: "mcp", isForeign: true });
  return plainResult({
    questionId: question.id,
    workflowRunId: run.id,
    status: question.status,
    notificationsSent: [...new Set((question.deliveries ?? []).map(({ channel }) => channel))],
    notificationsFailed: [
      ...unreachedChannels(question, call.deps.rules),
      ...ignoredAddresses(question.notify).map((channel) => ({ channel, why: ADDRESS_IGNORED })),
    ],
    timeoutAt: question.dueAt ?? null,
  });
}

async function askUserQuestion(call: ToolCall) {
  const read = await askOnly(call, { via: "mcp", isForeign: true, timeoutMs: "never", onTimeout: "wait" });
  return isPending(read.question) ? resultOf(read, "") : handOver(call, read);
}

function parse<Schema extends z.ZodType>(shape: Schema, input: unknown) {
  const parsed = shape.safeParse(input ?? {});
  if (!parsed.success) throw new Refusal("bad_input", `The arguments cannot be read: ${describeIssue(parsed.error)}`);
  return parsed.data;
}
