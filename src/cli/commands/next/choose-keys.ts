import { submitAnswer, moveStep, composeAnswer, sayOutcomeRefused } from "./submit-answer.ts";
import type { Key } from "../../terminal/keyboard.ts";
import { EMPTY_LINE, editedLine } from "./line-editor.ts";
import {
  type NextEffect,
  type Transition,
  type NextState,
  nextCard,
  withoutEffects,
  changePick,
  withMessage,
  showCard,
  currentStep,
} from "./next-state.ts";
import { findProblem, rowsOf } from "./answer-step.ts";

const SCROLL = 5;

/** Handles a key while the choices are shown. A digit only selects; nothing is sent before Enter. */
export function pressChoose(before: NextState, key: Key): Transition {
  const state = { ...before, message: undefined };
  switch (key.name) {
    case "up":
      return withoutEffects(move(state, -1));
    case "down":
      return withoutEffects(move(state, 1));
    case "page-down":
      return withoutEffects({ ...state, scroll: state.scroll + SCROLL });
    case "page-up":
      return withoutEffects({ ...state, scroll: Math.max(0, state.scroll - SCROLL) });
    case "enter":
      return take(state);
    case "tab":
    case "right":
      return withoutEffects(moveStep(state, 1));
    case "back-tab":
    case "left":
      return withoutEffects(moveStep(state, -1));
    case "character":
      return pressCharacter(state, key.text);
    default:
      return withoutEffects(state);
  }
}

/** Handles letters, digits and signs. */
function pressCharacter(state: NextState, key: string): Transition {
  const { card } = state;
  if (!card) return withoutEffects(state);
  if (/^[1-9]$/.test(key)) return withoutEffects(select(state, Number(key) - 1));
  const { id, claim } = card.read.question;
  const byKey: Readonly<Record<string, () => Transition>> = {
    k: () => withoutEffects(move(state, -1)),
    j: () => withoutEffects(move(state, 1)),
    " ": () => withoutEffects(tick(state)),
    r: () => write(state),
    n: () => withoutEffects({ ...state, mode: { at: "write", what: "note", line: editedLine(state.draft.note) } }),
    m: () => askBack(state),
    y: () => leaveChoice(state),
    h: () => withoutEffects({ ...state, mode: { at: "write", what: "snooze", line: EMPTY_LINE } }),
    "+": () => withoutEffects({ ...state, mode: { at: "write", what: "extend", line: EMPTY_LINE } }),
    x: () => withoutEffects({ ...state, mode: { at: "write", what: "stop", line: EMPTY_LINE } }),
    s: () => skip(state),
    c: () => act(state, { do: claim?.by.id === state.user ? "release" : "claim", id }),
    d: () => act(state, { do: "diff", id }),
    v: () => act(state, { do: "view", id }),
    o: () => act(state, { do: "browser", id }),
    t: () => act(state, { do: "templates", id }),
    e: () => edit(state),
    u: () => takeBack(state),
    "?": () => withoutEffects({ ...state, mode: { at: "keys" } }),
    q: () => ({ state, effects: [{ do: "quit" }] }),
  };
  return Object.hasOwn(byKey, key) ? (byKey[key]?.() ?? withoutEffects(state)) : withoutEffects(state);
}

/** Undoes the last answer during its undo window. */
export function takeBack(state: NextState): Transition {
  if (!state.last) return withoutEffects(withMessage(state, "There is no answer to undo."));
  return act(state, { do: "undo", ids: state.last.ids });
}

function act(state: NextState, effect: NextEffect): Transition {
  return { state: { ...state, mode: { at: "busy" } }, effects: [effect] };
}

function move(state: NextState, by: 1 | -1): NextState {
  const now = currentStep(state);
  if (!now) return state;
  const last = rowsOf(now.step) - 1;
  const from = now.pick.cursor < 0 && by < 0 ? last + 1 : now.pick.cursor;
  return changePick(state, { cursor: Math.max(0, Math.min(last, from + by)) });
}

function select(state: NextState, row: number): NextState {
  const now = currentStep(state);
  if (!now || row >= rowsOf(now.step)) return state;
  const moved = changePick(state, { cursor: row });
  return now.step.multiple ? tick(moved) : moved;
}

function tick(state: NextState): NextState {
  const now = currentStep(state);
  const { cursor, ticked } = now?.pick ?? { cursor: -1, ticked: [] };
  if (!now?.step.multiple || !now.step.choices[cursor]) return state;
  const others = ticked.filter((place) => place !== cursor);
  const isOff = others.length === ticked.length;
  return changePick(state, {
    ticked: isOff ? [...ticked, cursor].toSorted((a, b) => a - b) : others,
    isWritten: false,
  });
}

/** Enter: takes the row and continues with the next step, or completes the answer. */
function take(state: NextState): Transition {
  const now = currentStep(state);
  if (!now) return withoutEffects(state);
  const { step, pick } = now;
  if (step.allowText && pick.cursor === step.choices.length) return write(state);
  const taken = changePick(state, { isWritten: false });
  const problem = findProblem(step, { ...pick, isWritten: false });
  if (problem) return withoutEffects(withMessage(taken, problem, "bad"));
  return submitAnswer(taken, composeAnswer(taken));
}

function write(state: NextState): Transition {
  const now = currentStep(state);
  if (!now?.step.allowText) return withoutEffects(withMessage(state, "Only the options can be chosen here."));
  return withoutEffects({ ...changePick(state, { cursor: now.step.choices.length }), mode: { at: "answer" } });
}

function askBack(state: NextState): Transition {
  const refused = sayOutcomeRefused(state, "clarify");
  if (refused) return withoutEffects(withMessage(state, refused, "bad"));
  return withoutEffects({ ...state, mode: { at: "write", what: "clarify", line: EMPTY_LINE } });
}

function leaveChoice(state: NextState): Transition {
  const refused = sayOutcomeRefused(state, "decide");
  if (refused) return withoutEffects(withMessage(state, refused, "bad"));
  return withoutEffects({ ...state, mode: { at: "sure", of: "decide" } });
}

function skip(state: NextState): Transition {
  const id = state.card?.read.question.id;
  if (id === undefined) return withoutEffects(state);
  const skipped = {
    ...state,
    skipped: [...state.skipped, id],
    queue: state.queue.filter(({ read }) => read.question.id !== id),
  };
  return showCard(skipped, nextCard(skipped, [id]));
}

/** Opens the editor with the text so far. */
function edit(state: NextState): Transition {
  const now = currentStep(state);
  const id = state.card?.read.question.id;
  if (!now || id === undefined) return withoutEffects(state);
  if (!now.step.allowText) return withoutEffects(withMessage(state, "Only the options can be chosen here."));
  return act(state, { do: "edit", id, item: now.step.itemId, text: now.pick.line.text });
}
