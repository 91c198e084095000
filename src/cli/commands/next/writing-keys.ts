import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { wordToType } from "../../../core/risk-word.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { confirm, give, readParts } from "./submit-answer.ts";
import type { Key } from "../../next/key.ts";
import { editLine } from "./line-editor.ts";
import { type Effect, type Next, type State, only, pickNow, say, stepNow } from "./next-state.ts";
import { findProblem } from "./answer-step.ts";

const USUAL = "1h";
type WriteMode = Extract<State["mode"], { at: "write" }>;

/** A key while the answer is written. */
export function pressAnswer(before: State, key: Key): Next {
  const now = stepNow(before);
  if (!now || key.name === "escape") return only({ ...before, mode: { at: "choose" }, message: undefined });
  const state = { ...before, message: undefined };
  if (key.name === "enter" || key.name === "end-of-input") {
    const written = pickNow(state, { isWritten: true });
    const problem = findProblem(now.step, { ...now.pick, isWritten: true });
    return problem ? only(say(state, problem, "bad")) : give(written, readParts(written));
  }
  const line = editLine(now.pick.line, key);
  return only(line ? pickNow(state, { line }) : state);
}

/** A key while something else is written: a note, a question back, for how long. */
export function pressWrite(state: State, mode: WriteMode, key: Key): Next {
  if (key.name === "escape") return only({ ...state, mode: { at: "choose" }, ready: undefined, message: undefined });
  if (key.name === "enter" || key.name === "end-of-input") return finish({ ...state, message: undefined }, mode);
  const line = editLine(mode.line, key);
  return only(line ? { ...state, mode: { ...mode, line }, message: undefined } : state);
}

function finish(state: State, { what, line }: WriteMode): Next {
  const text = line.text.trim();
  const id = state.card?.read.question.id;
  if (id === undefined) return only(state);
  switch (what) {
    case "note":
      return only({ ...state, draft: { ...state.draft, note: text }, mode: { at: "choose" } });
    case "clarify":
      if (text === "") return only(say(state, "Write what is unclear, or press Esc to go back.", "bad"));
      return confirm(state, readParts(state, { outcome: "clarify", note: text }));
    case "snooze":
    case "extend":
      return forAsLong(state, text || USUAL, (ms) => ({ do: what, id, ms }));
    case "word":
      return typeWord(state, text);
    case "stop":
      if (text.toLowerCase() !== "yes") return only(say({ ...state, mode: { at: "choose" } }, "The run goes on."));
      return { state: { ...state, mode: { at: "busy" } }, effects: [{ do: "stop", id }] };
    default:
      return unreachable(what);
  }
}

/** At high risk a word is typed, so that no key pressed by habit answers. */
function typeWord(state: State, text: string): Next {
  const { card, ready } = state;
  if (!card || !ready) return only({ ...state, mode: { at: "choose" } });
  const { question, run } = card.read;
  if (text !== wordToType(question.title, run.name))
    return only(say(state, "That is not the word; nothing was sent.", "bad"));
  return confirm(state, { ...ready, confirmed: true });
}

function forAsLong(state: State, text: string, effect: (ms: number) => Effect): Next {
  try {
    const ms = parseDuration(text);
    return { state: { ...state, mode: { at: "busy" } }, effects: [effect(ms)] };
  } catch (error) {
    if (error instanceof Refusal) return only(say(state, error.message, "bad"));
    throw error;
  }
}
