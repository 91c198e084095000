import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { confirmAnswer, submitAnswer, composeAnswer } from "./submit-answer.ts";
import type { Key } from "../../terminal/keyboard.ts";
import { editLine } from "./line-editor.ts";
import {
  type NextEffect,
  type Transition,
  type NextState,
  withoutEffects,
  changePick,
  withMessage,
  currentStep,
} from "./next-state.ts";
import { findProblem } from "./answer-step.ts";

const USUAL = "1h";
type WriteMode = Extract<NextState["mode"], { at: "write" }>;

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
