import { give, goTo, readParts, sayOutcomeRefused } from "./submit-answer.ts";
import type { Key } from "../../next/key.ts";
import { EMPTY_LINE, lineOf } from "./line-editor.ts";
import { type Effect, type Next, type State, nextCard, only, pickNow, say, showCard, stepNow } from "./next-state.ts";
import { findProblem, rowsOf } from "./answer-step.ts";

const SCROLL = 5;

/** A key while the choices are shown. A digit only selects; nothing is sent before Enter. */
export function pressChoose(before: State, key: Key): Next {
  const state = { ...before, message: undefined };
  switch (key.name) {
    case "up":
      return only(move(state, -1));
    case "down":
      return only(move(state, 1));
    case "page-down":
      return only({ ...state, scroll: state.scroll + SCROLL });
    case "page-up":
      return only({ ...state, scroll: Math.max(0, state.scroll - SCROLL) });
    case "enter":
      return take(state);
    case "tab":
    case "right":
      return only(goTo(state, 1));
    case "back-tab":
    case "left":
      return only(goTo(state, -1));
    case "character":
      return pressCharacter(state, key.text);
    default:
      return only(state);
  }
}

/** The keys that have a letter. */
function pressCharacter(state: State, key: string): Next {
  const { card } = state;
  if (!card) return only(state);
  if (/^[1-9]$/.test(key)) return only(select(state, Number(key) - 1));
  const { id, claim } = card.read.question;
  const byKey: Readonly<Record<string, () => Next>> = {
    k: () => only(move(state, -1)),
    j: () => only(move(state, 1)),
    " ": () => only(tick(state)),
    r: () => write(state),
    n: () => only({ ...state, mode: { at: "write", what: "note", line: lineOf(state.draft.note) } }),
    m: () => askBack(state),
    y: () => leaveChoice(state),
    h: () => only({ ...state, mode: { at: "write", what: "snooze", line: EMPTY_LINE } }),
    "+": () => only({ ...state, mode: { at: "write", what: "extend", line: EMPTY_LINE } }),
    x: () => only({ ...state, mode: { at: "write", what: "stop", line: EMPTY_LINE } }),
    s: () => skip(state),
    c: () => act(state, { do: claim?.by.id === state.user ? "release" : "claim", id }),
    d: () => act(state, { do: "diff", id }),
    v: () => act(state, { do: "view", id }),
    o: () => act(state, { do: "browser", id }),
    t: () => act(state, { do: "templates", id }),
    e: () => edit(state),
    u: () => takeBack(state),
    "?": () => only({ ...state, mode: { at: "keys" } }),
    q: () => ({ state, effects: [{ do: "quit" }] }),
  };
  return Object.hasOwn(byKey, key) ? (byKey[key]?.() ?? only(state)) : only(state);
}

/** Takes the last answer back, while that can be done. */
export function takeBack(state: State): Next {
  if (!state.last) return only(say(state, "There is no answer that can still be taken back."));
  return act(state, { do: "undo", ids: state.last.ids });
}

function act(state: State, effect: Effect): Next {
  return { state: { ...state, mode: { at: "busy" } }, effects: [effect] };
}

function move(state: State, by: 1 | -1): State {
  const now = stepNow(state);
  if (!now) return state;
  const last = rowsOf(now.step) - 1;
  const from = now.pick.cursor < 0 && by < 0 ? last + 1 : now.pick.cursor;
  return pickNow(state, { cursor: Math.max(0, Math.min(last, from + by)) });
}

function select(state: State, row: number): State {
  const now = stepNow(state);
  if (!now || row >= rowsOf(now.step)) return state;
  const moved = pickNow(state, { cursor: row });
  return now.step.multiple ? tick(moved) : moved;
}

function tick(state: State): State {
  const now = stepNow(state);
  const { cursor, ticked } = now?.pick ?? { cursor: -1, ticked: [] };
  if (!now?.step.multiple || !now.step.choices[cursor]) return state;
  const others = ticked.filter((place) => place !== cursor);
  const isOff = others.length === ticked.length;
  return pickNow(state, { ticked: isOff ? [...ticked, cursor].toSorted((a, b) => a - b) : others, isWritten: false });
}

/** Enter: the row is taken, and the next step comes, or the answer is complete. */
function take(state: State): Next {
  const now = stepNow(state);
  if (!now) return only(state);
  const { step, pick } = now;
  if (step.allowText && pick.cursor === step.choices.length) return write(state);
  const taken = pickNow(state, { isWritten: false });
  const problem = findProblem(step, { ...pick, isWritten: false });
  if (problem) return only(say(taken, problem, "bad"));
  return give(taken, readParts(taken));
}

function write(state: State): Next {
  const now = stepNow(state);
  if (!now?.step.allowText) return only(say(state, "Only the options can be chosen here."));
  return only({ ...pickNow(state, { cursor: now.step.choices.length }), mode: { at: "answer" } });
}

function askBack(state: State): Next {
  const refused = sayOutcomeRefused(state, "clarify");
  if (refused) return only(say(state, refused, "bad"));
  return only({ ...state, mode: { at: "write", what: "clarify", line: EMPTY_LINE } });
}

function leaveChoice(state: State): Next {
  const refused = sayOutcomeRefused(state, "decide");
  if (refused) return only(say(state, refused, "bad"));
  return only({ ...state, mode: { at: "sure", of: "decide" } });
}

function skip(state: State): Next {
  const id = state.card?.read.question.id;
  if (id === undefined) return only(state);
  const skipped = {
    ...state,
    skipped: [...state.skipped, id],
    queue: state.queue.filter(({ read }) => read.question.id !== id),
  };
  return showCard(skipped, nextCard(skipped, [id]));
}

/** The editor opens with what was written so far. */
function edit(state: State): Next {
  const now = stepNow(state);
  const id = state.card?.read.question.id;
  if (!now || id === undefined) return only(state);
  if (!now.step.allowText) return only(say(state, "Only the options can be chosen here."));
  return act(state, { do: "edit", id, item: now.step.itemId, text: now.pick.line.text });
}
