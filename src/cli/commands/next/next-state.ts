import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import type { EditedLine } from "./line-editor.ts";
import { type PickedChoice, type AnswerStep, startPick, stepsOf } from "./answer-step.ts";

/** A waiting question, with the same question of other runs. */
export interface QuestionCard {
  read: QuestionSnapshot;
  same: readonly QuestionSnapshot[];
}

/** Usage and changed lines of the shown run. */
export interface RunCounts {
  usage?: UsageRow | undefined;
  /** Lines added and removed in its working tree. */
  work?: { added: number; removed: number } | undefined;
}

/** A template, filled in for the shown question. */
export interface OfferedTemplate {
  name: string;
  /** Its text in one line. */
  says: string;
  items: Readonly<Record<string, { values: string[]; text?: string | undefined }>>;
  note?: string | undefined;
}

/** The unsent answer to one question; kept while another question is shown. */
export interface AnswerDraft {
  step: number;
  picks: readonly PickedChoice[];
  note: string;
  /** The template that it started from. */
  template: string | undefined;
  /** Answers after the timeout. */
  isForced: boolean;
}

/** The purpose of the text in the input line. */
export type WritingPurpose = "note" | "clarify" | "snooze" | "extend" | "word" | "stop";

/** The mode, which decides what keys do. */
export type NextMode =
  | { at: "choose" }
  | { at: "answer" }
  | { at: "write"; what: WritingPurpose; line: EditedLine }
  | { at: "sure"; of: "decide" | "same" }
  | { at: "templates"; templates: readonly OfferedTemplate[]; cursor: number }
  | { at: "keys" }
  | { at: "closed" }
  | { at: "empty" }
  | { at: "busy" };

export interface ScreenMessage {
  text: string;
  tone: "plain" | "good" | "bad";
}

/** The whole state of `askd next`. */
export interface NextState {
  now: Instant;
  size: { columns: number; rows: number };
  /** The id of the person. */
  user: string;
  /** Keeps running when nothing waits. */
  isFollowing: boolean;
  /** Waiting questions that were not skipped, in order. */
  queue: readonly QuestionCard[];
  card: QuestionCard | undefined;
  /** Usage and changes of the shown run, once counted. */
  known: RunCounts | undefined;
  draft: AnswerDraft;
  drafts: Readonly<Record<string, AnswerDraft>>;
  mode: NextMode;
  message: ScreenMessage | undefined;
  /** The scroll offset of the context, in lines. */
  scroll: number;
  /** Questions skipped, and questions answered here. */
  skipped: readonly string[];
  done: readonly string[];
  seen: readonly string[] | undefined;
  /** The last answer, while it can be undone. */
  last: { ids: readonly QuestionId[]; said: string; until: Instant } | undefined;
  /** The answer that waits for confirmation. */
  ready: AnswerParts | undefined;
  /** Text written for a question that somebody else closed. */
  kept: string;
}

/** A side effect that the loop runs. */
export type NextEffect =
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

/** The parts of an answer that the person decides. */
export interface AnswerParts {
  items?: Record<string, { values: string[]; text?: string }>;
  note?: string;
  template?: string;
  outcome: "answer" | "decide" | "clarify";
  force: boolean;
  confirmed: boolean;
}

/** The next state and the effects to run. */
export interface Transition {
  state: NextState;
  effects: readonly NextEffect[];
}

const EMPTY_DRAFT: AnswerDraft = { step: 0, picks: [], note: "", template: undefined, isForced: false };

export function startState(start: Pick<NextState, "now" | "size" | "user" | "isFollowing">): NextState {
  return {
    ...start,
    queue: [],
    card: undefined,
    known: undefined,
    draft: EMPTY_DRAFT,
    drafts: {},
    mode: { at: "busy" },
    message: undefined,
    scroll: 0,
    skipped: [],
    done: [],
    seen: undefined,
    last: undefined,
    kept: "",
    ready: undefined,
  };
}

/** A transition without effects. */
export function withoutEffects(state: NextState): Transition {
  return { state, effects: [] };
}

/** The draft for a question: the kept one, or a new one. */
export function draftFor(state: NextState, { read }: QuestionCard): AnswerDraft {
  const kept = state.drafts[read.question.id];
  if (kept) return kept;
  return { ...EMPTY_DRAFT, picks: stepsOf(read.content).map((step) => startPick(step, read.question.risk)) };
}

/** Shows a card, or the empty screen. */
export function showCard(state: NextState, card: QuestionCard | undefined): Transition {
  const kept = state.card ? { ...state.drafts, [state.card.read.question.id]: state.draft } : state.drafts;
  const cleared = { ...state, drafts: kept, card, known: undefined, scroll: 0, kept: "" };
  if (!card) return withoutEffects({ ...cleared, draft: EMPTY_DRAFT, mode: { at: "empty" } });
  return {
    state: { ...cleared, draft: draftFor({ ...state, drafts: kept }, card), mode: { at: "choose" } },
    effects: [{ do: "count", id: card.read.question.id }],
  };
}

/** The first waiting question not in `but`. */
export function nextCard(state: NextState, but: readonly string[]): QuestionCard | undefined {
  return state.queue.find(({ read }) => !but.includes(read.question.id) && !state.skipped.includes(read.question.id));
}

/** The current step with its choice. */
export function currentStep({
  card,
  draft,
}: NextState): { step: AnswerStep; pick: PickedChoice; steps: readonly AnswerStep[] } | undefined {
  const steps = card ? stepsOf(card.read.content) : [];
  const step = steps[draft.step];
  const pick = draft.picks[draft.step];
  return step && pick && { step, pick, steps };
}

/** Changes the choice of the current step. */
export function changePick(state: NextState, change: Partial<PickedChoice>): NextState {
  const { draft } = state;
  const picks = draft.picks.map((pick, index) => (index === draft.step ? { ...pick, ...change } : pick));
  return { ...state, draft: { ...draft, picks }, message: undefined };
}

export function withMessage(state: NextState, text: string, tone: ScreenMessage["tone"] = "plain"): NextState {
  return { ...state, message: { text, tone } };
}
