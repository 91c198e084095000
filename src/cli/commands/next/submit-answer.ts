import type { Outcome } from "../../../core/question/question.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { unreachable } from "../../../core/unreachable.ts";
import type { Key } from "../../terminal/keyboard.ts";
import { EMPTY_LINE, editLine } from "./line-editor.ts";
import {
  type AnswerParts,
  type Transition,
  type NextState,
  withoutEffects,
  currentStep,
  type NextEffect,
  changePick,
  withMessage,
} from "./next-state.ts";
import { composeItems, findProblem } from "./answer-step.ts";

const USUAL = "1h";
type WriteMode = Extract<NextState["mode"], { at: "write" }>;

/** Why the asker does not accept this outcome; undefined if it does. */
export function sayOutcomeRefused({ card }: NextState, outcome: Outcome): string | undefined {
  const question = card?.read.question;
  if (!question) return undefined;
  if (question.accepts.includes(outcome) && (outcome !== "decide" || question.kind !== "approval")) return undefined;
  if (outcome === "clarify" && question.kind === "approval") return undefined; // asking back is always allowed for approvals
  return outcome === "decide"
    ? "The asker cannot decide this; choose or write an answer."
    : "The asker cannot be asked back; choose or write an answer.";
}

/** The answer from the current draft. */
export function composeAnswer({ card, draft }: NextState, over: Partial<AnswerParts> = {}): AnswerParts {
  const outcome = over.outcome ?? "answer";
  return {
    items: outcome === "answer" && card ? composeItems(card.read.content, draft.picks) : undefined,
    note: draft.note || undefined,
    template: outcome === "answer" ? draft.template : undefined,
    outcome,
    force: draft.isForced,
    confirmed: false,
    ...over,
  };
}

/** Continues with the next step; after the last one confirms and sends the answer. */
export function submitAnswer(state: NextState, parts: AnswerParts): Transition {
  const steps = currentStep(state)?.steps ?? [];
  if (parts.outcome === "answer" && state.draft.step < steps.length - 1)
    return withoutEffects(enterStep(moveStep(state, 1)));
  return confirmAnswer(state, parts);
}

/** Asks for the missing confirmation: a typed word at high risk, and whether to answer identical questions too. */
export function confirmAnswer(state: NextState, parts: AnswerParts): Transition {
  const { card } = state;
  if (!card) return withoutEffects(state);
  const ready = { ...state, ready: parts, message: undefined };
  if (card.read.question.risk === "high" && !parts.confirmed) {
    return withoutEffects({ ...ready, mode: { at: "write", what: "word", line: EMPTY_LINE } });
  }
  return card.same.length > 0
    ? withoutEffects({ ...ready, mode: { at: "sure", of: "same" } })
    : sendAnswer(ready, "this");
}

/** Sends the confirmed answer to this question, or to all identical ones. */
export function sendAnswer(state: NextState, whom: "this" | "all"): Transition {
  const { card, ready } = state;
  if (!card || !ready) return withoutEffects(state);
  const others = whom === "all" ? card.same.map(({ question }) => question.id) : [];
  const ids = [card.read.question.id, ...others];
  return { state: { ...state, mode: { at: "busy" } }, effects: [{ do: "answer", ids, answer: ready }] };
}

/** Moves between the steps of a question. */
export function moveStep(state: NextState, by: 1 | -1): NextState {
  const steps = currentStep(state)?.steps.length ?? 1;
  const step = Math.max(0, Math.min(steps - 1, state.draft.step + by));
  return { ...state, draft: { ...state.draft, step }, mode: { at: "choose" }, message: undefined };
}

/** Starts writing at once if there is nothing to choose. */
function enterStep(state: NextState): NextState {
  return currentStep(state)?.step.choices.length === 0 ? { ...state, mode: { at: "answer" } } : state;
}

/** Handles a key while the answer is written. */
export function pressAnswer(before: NextState, key: Key): Transition {
  const now = currentStep(before);
  if (!now || key.name === "escape") return withoutEffects({ ...before, mode: { at: "choose" }, message: undefined });
  const state = { ...before, message: undefined };
  if (key.name === "enter" || key.name === "end-of-input") {
    const written = changePick(state, { isWritten: true });
    const problem = findProblem(now.step, { ...now.pick, isWritten: true });
    return problem ? withoutEffects(withMessage(state, problem, "bad")) : submitAnswer(written, composeAnswer(written));
  }
  const line = editLine(now.pick.line, key);
  return withoutEffects(line ? changePick(state, { line }) : state);
}

/** Handles a key while another text is written: a note, a question back, a duration. */
export function pressWrite(state: NextState, mode: WriteMode, key: Key): Transition {
  if (key.name === "escape")
    return withoutEffects({ ...state, mode: { at: "choose" }, ready: undefined, message: undefined });
  if (key.name === "enter" || key.name === "end-of-input") return finish({ ...state, message: undefined }, mode);
  const line = editLine(mode.line, key);
  return withoutEffects(line ? { ...state, mode: { ...mode, line }, message: undefined } : state);
}

function finish(state: NextState, { what, line }: WriteMode): Transition {
  const text = line.text.trim();
  const id = state.card?.read.question.id;
  if (id === undefined) return withoutEffects(state);
  switch (what) {
    case "note":
      return withoutEffects({ ...state, draft: { ...state.draft, note: text }, mode: { at: "choose" } });
    case "clarify":
      if (text === "")
        return withoutEffects(withMessage(state, "Write what is unclear, or press Esc to go back.", "bad"));
      return confirmAnswer(state, composeAnswer(state, { outcome: "clarify", note: text }));
    case "snooze":
    case "extend":
      return forAsLong(state, text || USUAL, (ms) => ({ do: what, id, ms }));
    case "word":
      return typeWord(state, text);
    case "stop":
      if (text.toLowerCase() !== "yes")
        return withoutEffects(withMessage({ ...state, mode: { at: "choose" } }, "The run continues."));
      return { state: { ...state, mode: { at: "busy" } }, effects: [{ do: "stop", id }] };
    default:
      return unreachable(what);
  }
}

/** At high risk a person types a word, so that no habitual key answers. */
function typeWord(state: NextState, text: string): Transition {
  const { card, ready } = state;
  if (!card || !ready) return withoutEffects({ ...state, mode: { at: "choose" } });
  const { question, run } = card.read;
  if (text !== confirmationWord(question.title, run.name))
    return withoutEffects(withMessage(state, "That is not the word; nothing was sent.", "bad"));
  return confirmAnswer(state, { ...ready, confirmed: true });
}

function forAsLong(state: NextState, text: string, effect: (ms: number) => NextEffect): Transition {
  try {
    const ms = parseDuration(text);
    return { state: { ...state, mode: { at: "busy" } }, effects: [effect(ms)] };
  } catch (error) {
    if (error instanceof Refusal) return withoutEffects(withMessage(state, error.message, "bad"));
    throw error;
  }
}
