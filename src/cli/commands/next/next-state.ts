import type { Read } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import type { Line } from "./line-editor.ts";
import { type Picked, type Step, startPick, stepsOf } from "./answer-step.ts";

/** A question that waits, with those of other runs that ask the same. */
export interface Card {
  read: Read;
  same: readonly Read[];
}

/** What is counted of a run while its question is shown. */
export interface Known {
  usage?: UsageRow | undefined;
  /** The lines that its working tree gained and lost. */
  work?: { added: number; removed: number } | undefined;
}

/** A canned answer, as it would answer the shown question. */
export interface Template {
  name: string;
  /** What it says, in one line. */
  says: string;
  items: Readonly<Record<string, { values: string[]; text?: string | undefined }>>;
  note?: string | undefined;
}

/** What a person has decided on one question so far; it is kept when they look at another one. */
export interface Draft {
  step: number;
  picks: readonly Picked[];
  note: string;
  /** The canned answer that it began with. */
  template: string | undefined;
  /** Answers although the time is over. */
  isForced: boolean;
}

/** What is being written in a line of its own. */
export type Writing = "note" | "clarify" | "snooze" | "extend" | "word" | "stop";

/** What keys do now. */
export type Mode =
  | { at: "choose" }
  | { at: "answer" }
  | { at: "write"; what: Writing; line: Line }
  | { at: "sure"; of: "decide" | "same" }
  | { at: "templates"; templates: readonly Template[]; cursor: number }
  | { at: "keys" }
  | { at: "closed" }
  | { at: "empty" }
  | { at: "busy" };

export interface Message {
  text: string;
  tone: "plain" | "good" | "bad";
}

/** Everything that is known and shown. */
export interface State {
  now: Instant;
  size: { columns: number; rows: number };
  /** Who sits here. */
  user: string;
  /** Stays when nothing waits. */
  isFollowing: boolean;
  /** What waits and was not skipped, in the order in which it is offered. */
  queue: readonly Card[];
  card: Card | undefined;
  /** What the shown run has used and changed, once it is counted. */
  known: Known | undefined;
  draft: Draft;
  drafts: Readonly<Record<string, Draft>>;
  mode: Mode;
  message: Message | undefined;
  /** How many lines of the context are scrolled away. */
  scroll: number;
  /** What was left for later, and what was answered here. */
  skipped: readonly string[];
  done: readonly string[];
  seen: readonly string[] | undefined;
  /** The last answer that can still be taken back. */
  last: { ids: readonly QuestionId[]; said: string; until: Instant } | undefined;
  /** The answer that still has to be confirmed. */
  ready: AnswerParts | undefined;
  /** Text that somebody wrote for a question that was closed meanwhile. */
  kept: string;
}

/** What is to be done in the world, one after another. */
export type Effect =
  | { do: "answer"; ids: readonly QuestionId[]; answer: AnswerParts }
  | { do: "claim" | "release" | "stop"; id: QuestionId }
  | { do: "diff" | "view"; id: QuestionId }
  | { do: "count" | "browser" | "templates"; id: QuestionId }
  | { do: "snooze" | "extend"; id: QuestionId; ms: number }
  | { do: "comment"; id: QuestionId; text: string }
  | { do: "edit"; id: QuestionId; item: string; text: string }
  | { do: "undo"; ids: readonly QuestionId[] }
  | { do: "copy"; text: string }
  | { do: "bell" | "suspend" | "quit" };

/** The part of an answer that is decided here. */
export interface AnswerParts {
  items?: Record<string, { values: string[]; text?: string }>;
  note?: string;
  template?: string;
  outcome: "answer" | "decide" | "clarify";
  force: boolean;
  confirmed: boolean;
}

/** What the state becomes, and what is to be done. */
export interface Next {
  state: State;
  effects: readonly Effect[];
}

const NO_DRAFT: Draft = { step: 0, picks: [], note: "", template: undefined, isForced: false };

export function startState(start: Pick<State, "now" | "size" | "user" | "isFollowing">): State {
  return {
    ...start,
    ...{ queue: [], card: undefined, known: undefined, draft: NO_DRAFT, drafts: {}, mode: { at: "busy" } },
    ...{
      message: undefined,
      scroll: 0,
      skipped: [],
      done: [],
      seen: undefined,
      last: undefined,
      kept: "",
      ready: undefined,
    },
  };
}

/** Nothing more than this state. */
export function only(state: State): Next {
  return { state, effects: [] };
}

/** What is shown at first of a question: what was begun before, or the choices as they start. */
export function draftFor(state: State, { read }: Card): Draft {
  const kept = state.drafts[read.question.id];
  if (kept) return kept;
  return { ...NO_DRAFT, picks: stepsOf(read.content).map((step) => startPick(step, read.question.risk)) };
}

/** Puts a card on the screen, or says that nothing is left. */
export function showCard(state: State, card: Card | undefined): Next {
  const kept = state.card ? { ...state.drafts, [state.card.read.question.id]: state.draft } : state.drafts;
  const cleared = { ...state, drafts: kept, card, known: undefined, scroll: 0, kept: "" };
  if (!card) return only({ ...cleared, draft: NO_DRAFT, mode: { at: "empty" } });
  return {
    state: { ...cleared, draft: draftFor({ ...state, drafts: kept }, card), mode: { at: "choose" } },
    effects: [{ do: "count", id: card.read.question.id }],
  };
}

/** The first question that waits besides this one. */
export function nextCard(state: State, but: readonly string[]): Card | undefined {
  return state.queue.find(({ read }) => !but.includes(read.question.id) && !state.skipped.includes(read.question.id));
}

/** The step that the person is at, with what they picked. */
export function stepNow({ card, draft }: State): { step: Step; pick: Picked; steps: readonly Step[] } | undefined {
  const steps = card ? stepsOf(card.read.content) : [];
  const step = steps[draft.step];
  const pick = draft.picks[draft.step];
  return step && pick && { step, pick, steps };
}

/** Changes what is picked at the step that the person is at. */
export function pickNow(state: State, change: Partial<Picked>): State {
  const { draft } = state;
  const picks = draft.picks.map((pick, index) => (index === draft.step ? { ...pick, ...change } : pick));
  return { ...state, draft: { ...draft, picks }, message: undefined };
}

export function say(state: State, text: string, tone: Message["tone"] = "plain"): State {
  return { ...state, message: { text, tone } };
}
