import type { z } from "zod";
import { type Actor, actorName } from "../people/actor.ts";
import { isToolAllowed } from "../question/approval.ts";
import type { ToolUse } from "../question/tool-use.ts";
import { type DoorDefaults, describeIssue } from "../question/ask-input.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { WORDS_CHARS, oneVisibleLine, quoteLine, quoteName, quoteWords } from "../text/foreign-text.ts";
import { cancelledMessage, parkedMessage, recorded, timeoutMessage } from "../run/agent-message.ts";
import { DAY_MS } from "../instant.ts";
import { itemText } from "../answer/match.ts";
import { type Answer, type Question, findAnswer } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { findTally } from "../answer/vote.ts";
import { unreachable } from "../unreachable.ts";

/** A call that an agent's hook holds up until we have said what becomes of it. */
export interface HookCall extends ToolUse {
  /** A question, leave to use a tool, or a form that a tool shows. */
  is: "question" | "approval" | "form";
  /** How the client calls what happened. */
  event: string;
  session: string;
  dir: string | undefined;
  /** The client's own name for the call; without one the words are the name. */
  key: string | undefined;
  isSubagent: boolean;
  /** The agent's current permission mode in its own words, if it names one. */
  mode?: string | undefined;
  /** The question, in the shape that every door takes. */
  ask: Record<string, unknown>;
  door: Omit<DoorDefaults, "via">;
}

/** The input of a hook: a call to decide, the end of a call, or something else. */
export type HookEvent = { is: "call"; call: HookCall } | { is: "over"; session: string; key: string } | { is: "other" };

/** The decision about a call: give the outcome, deny it, park its agent, or pass without an opinion. */
export type HookReply =
  | { do: "give"; read: QuestionSnapshot; note?: string | undefined; isResultLost?: boolean | undefined }
  | { do: "deny"; why: string }
  | { do: "park"; why: string }
  | { do: "pass" };

/** The facts that a program gives its hooks about itself. */
export interface SessionSeat {
  /** Whether a person sits there; nothing where the program does not say. */
  isAttended?: boolean;
  /** Nobody sits there and the session can be taken up again by itself. */
  isHeadless: boolean;
  pid?: number;
}

/** How an agent's program is hooked. */
export interface HookClient {
  agent: string;
  /** How long the program lets a hook take unless its settings say otherwise. */
  limitMs: number;
  /** Says whether the program can be parked in the middle of a call. */
  mayPark: boolean;
  /** Says whether `askd run` starts the program with a hook of its own. */
  runsBringHook: boolean;
  /** Says whether a person sits at the session, from the environment of the hook. */
  seat(env: Readonly<Record<string, string | undefined>>): SessionSeat;
  /** Says whether this version may show its model no result of a call that was put off; it is then told beside it. */
  mayLoseResult?(env: Readonly<Record<string, string | undefined>>): boolean;
  parse(raw: unknown): HookEvent;
  /** The hook's output; nothing for no opinion. */
  say(call: HookCall, reply: HookReply, delimiter: string): object | undefined;
}

/** One use of a tool that an agent asks our permission tool for. */
export interface PermissionRequest {
  session: string;
  dir: string | undefined;
  tool: string;
  input: unknown;
  toolUseId: string;
}

/** How an agent whose permission prompts come to a tool of ours words them. */
export interface PermissionPrompt {
  toCall(request: PermissionRequest): HookCall;
  /** The input with which it runs its own question tool, answered. */
  answeredInput(call: HookCall, read: QuestionSnapshot, delimiter: string): Record<string, unknown>;
}

/** Reads what a program wrote to its hook, or says what is wrong with it. */
export function parseHookInput<Schema extends z.ZodType>(shape: Schema, raw: unknown): z.infer<Schema> {
  const parsed = shape.safeParse(raw);
  if (!parsed.success)
    throw new Refusal("bad_input", `The hook's input cannot be read: ${describeIssue(parsed.error)}`);
  return parsed.data;
}

/** A client that asks us itself, from a server of its own: it waits as long as we let it, and nobody sits there. */
export const SERVED: Pick<HookClient, "limitMs" | "mayPark" | "runsBringHook" | "seat"> = {
  limitMs: 365 * DAY_MS,
  mayPark: true,
  runsBringHook: true,
  seat: () => ({ isAttended: false, isHeadless: true }),
};

/** How the program puts an answer before its model. */
interface AnswerPlace {
  /** The labels that the agent itself gave its options. */
  labels: readonly string[];
  delimiter: string;
  /** The signs by which the program ends an answer; words with one of them are quoted. */
  ends: RegExp;
}

/** The answer to one of several questions: the agent's own labels, and a person's words as a quotation. */
export function answerWords(
  { question, content }: QuestionSnapshot,
  index: number,
  { labels, delimiter, ends }: AnswerPlace,
): string[] {
  const answer = findAnswer(question);
  const item = content.items[index];
  if (!answer || !item) return [];
  if (answer.outcome === "decide") return ["You decide: choose yourself, and record what you chose and why."];
  if (answer.outcome === "clarify")
    return [`They ask back: ${quoteLine(answer.note ?? "", WORDS_CHARS)} Explain that, then ask again.`];
  const given = answer.items[item.id];
  if (!given) return [];
  const chosen = given.values.map(
    (value) =>
      labels[item.options.findIndex((option) => option.value === value)] ??
      quoteWords(itemText(item, given), delimiter, ends),
  );
  return given.text === undefined ? chosen : [...chosen, quoteWords(given.text, delimiter, ends)];
}

const LOOK_AGAIN = "do the same again in a later turn";

/** The reply to the agent for a closed question. */
export function replyTo(call: HookCall, read: QuestionSnapshot): HookReply {
  const { question } = read;
  const deny = (why: string): HookReply => ({ do: "deny", why: `${why} ${recorded(question)}` });
  if (call.is === "approval" && findAnswer(question))
    return isToolAllowed(read, call) ? { do: "give", read } : deny(sayDenied(read));
  switch (question.status) {
    case "pending":
      throw new Error(`${question.id} is still open`);
    case "answered":
      return { do: "give", read };
    case "timeout":
      if (findAnswer(question) || (question.policy === "proceed" && question.kind === "question"))
        return { do: "give", read };
      return deny(timeoutMessage(question));
    case "cancelled":
      return deny(cancelledMessage(question));
    default:
      return unreachable(question);
  }
}

/** The reply to the agent if nobody has answered by the end of the hold. */
export function replyUnanswered(
  call: HookCall,
  read: QuestionSnapshot,
  can: { park: boolean; isAttended: boolean | undefined },
): HookReply {
  const { id } = read.question;
  if (call.is === "form") return { do: "pass" };
  if (call.isSubagent)
    return {
      do: "deny",
      why: `Nobody has answered yet; ${id} still waits. Call check_answer ${id} (it holds), or ask the same again.`,
    };
  const why = parkedMessage(read, LOOK_AGAIN);
  if (can.park && read.run.giveBack !== "poll") return { do: "park", why };
  // A person at the session is asked by the agent itself; a permission is not given that way.
  if (can.isAttended && call.is === "question") return { do: "pass" };
  return { do: "deny", why };
}

/** An expected "no", in words that tell the agent what to do next. */
export function denyFor(refusal: Refusal): HookReply {
  const hint = refusal.code === "already_pending" ? "Ask this one again once that is answered" : refusal.hint;
  return { do: "deny", why: oneVisibleLine(hint ? `${refusal.message}. ${hint}.` : `${refusal.message}.`) };
}

function sayDenied({ question }: QuestionSnapshot) {
  const answer = findAnswer(question);
  const by = answer && !answer.policy ? ` by ${sayDeniers(question, answer)}` : "";
  const note = answer?.note ? `: ${quoteLine(answer.note, WORDS_CHARS)}` : "";
  if (answer?.outcome === "clarify")
    return `Asked back${by} (${question.id})${note}. It is not allowed yet: explain that, then ask again.`;
  return `Not allowed${by} (${question.id})${note}. Do not try the same again.`;
}

function sayDeniers(question: Question, answer: Answer) {
  const name = (by: Actor) => quoteName(actorName(by));
  const tally = findTally(question, answer);
  if (!tally) return name(answer.by);
  const names = tally.votes.map((vote) => name(vote.by)).join(", ");
  return `${tally.isVeto ? "a veto" : "a vote"} of ${names}`;
}
