import { mayForce } from "../../../core/question/question.ts";
import type { Key } from "../../terminal/keyboard.ts";
import {
  submitAnswer,
  moveStep,
  composeAnswer,
  sayOutcomeRefused,
  confirmAnswer,
  sendAnswer,
} from "./submit-answer.ts";
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
  type OfferedTemplate,
} from "./next-state.ts";
import { findProblem, rowsOf, fillPick, writingRow } from "./answer-step.ts";

const SCROLL = 5;

type ModeOf<At extends NextState["mode"]["at"]> = Extract<NextState["mode"], { at: At }>;

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
function takeBack(state: NextState): Transition {
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
  if (pick.cursor >= 0 && pick.cursor === writingRow(step)) return write(state);
  const taken = changePick(state, { isWritten: false });
  const problem = findProblem(step, { ...pick, isWritten: false });
  if (problem) return withoutEffects(withMessage(taken, problem, "bad"));
  return submitAnswer(taken, composeAnswer(taken));
}

function write(state: NextState): Transition {
  const now = currentStep(state);
  const row = now && writingRow(now.step);
  if (!now || row === undefined) return withoutEffects(withMessage(state, "Only the options can be chosen here."));
  const { change } = now.step;
  const line = change && now.pick.line.text === "" ? editedLine(change.command) : now.pick.line;
  return withoutEffects({ ...changePick(state, { cursor: row, line }), mode: { at: "answer" } });
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
  if (writingRow(now.step) === undefined)
    return withoutEffects(withMessage(state, "Only the options can be chosen here."));
  const text = now.pick.line.text || (now.step.change?.command ?? "");
  return act(state, { do: "edit", id, item: now.step.itemId, text });
}

/** Any key closes the list of keys. */
export function pressKeys(state: NextState): Transition {
  return withoutEffects({ ...state, mode: { at: "choose" } });
}

/** Answering for other runs too takes a y, leaving the choice to the agent Enter; Esc goes back; other keys do nothing. */
export function pressConfirm(state: NextState, { of }: ModeOf<"sure">, key: Key): Transition {
  const isNo = isKey(key, "n");
  if (key.name === "escape" || (isNo && of === "decide")) {
    return withoutEffects({ ...state, mode: { at: "choose" }, ready: undefined });
  }
  if (of === "same" && isKey(key, "y")) return sendAnswer(state, "all");
  if (of === "same") return isNo || key.name === "enter" ? sendAnswer(state, "this") : withoutEffects(state);
  // `y` opened this dialog, so only Enter confirms it.
  return key.name === "enter"
    ? confirmAnswer(state, composeAnswer(state, { outcome: "decide" }))
    : withoutEffects(state);
}

/** Fills the answer from a template; it can still be changed. */
export function pressTemplates(state: NextState, mode: ModeOf<"templates">, key: Key): Transition {
  const last = mode.templates.length - 1;
  const by = key.name === "up" || isKey(key, "k") ? -1 : key.name === "down" || isKey(key, "j") ? 1 : 0;
  if (by !== 0)
    return withoutEffects({ ...state, mode: { ...mode, cursor: Math.max(0, Math.min(last, mode.cursor + by)) } });
  if (key.name === "character" && /^[1-9]$/.test(key.text)) {
    return withoutEffects({ ...state, mode: { ...mode, cursor: Math.min(last, Number(key.text) - 1) } });
  }
  const chosen = key.name === "enter" ? mode.templates[mode.cursor] : undefined;
  if (chosen) return withoutEffects(fillIn(state, chosen));
  return withoutEffects(key.name === "escape" || isKey(key, "q") ? { ...state, mode: { at: "choose" } } : state);
}

/** Selects and fills in what the template says; the person may change it, and Enter sends it. */
function fillIn(state: NextState, { name, items, note }: OfferedTemplate): NextState {
  const steps = currentStep(state)?.steps ?? [];
  const picks = state.draft.picks.map((pick, index) => {
    const step = steps[index];
    const answer = step && items[step.itemId];
    return step && answer ? fillPick(step, pick, answer) : pick;
  });
  const draft = { ...state.draft, step: 0, picks, template: name, note: note ?? state.draft.note };
  const isText = steps.length === 1 && picks[0]?.isWritten === true;
  return { ...state, draft, mode: isText ? { at: "answer" } : { at: "choose" } };
}

/** Handles a key while the card shows that the question is closed. */
export function pressClosed(state: NextState, key: Key): Transition {
  const { card, kept } = state;
  if (!card) return withoutEffects(state);
  const { id } = card.read.question;
  if (isKey(key, "q")) return { state, effects: [{ do: "quit" }] };
  if (isKey(key, "c") && kept !== "") return { state, effects: [{ do: "copy", text: kept }] };
  if (isKey(key, "n") && kept !== "") return { state, effects: [{ do: "comment", id, text: kept }] };
  if (isKey(key, "f") && mayForce(card.read.run, card.read.question)) {
    return withoutEffects({ ...state, draft: { ...state.draft, isForced: true }, mode: { at: "choose" } });
  }
  if (key.name !== "enter" && !isKey(key, "s")) return withoutEffects(state);
  return showCard({ ...state, done: [...state.done, id] }, nextCard(state, [id]));
}

/** Handles a key while nothing waits: undo or quit. */
export function pressEmpty(state: NextState, key: Key): Transition {
  if (isKey(key, "u")) return takeBack(state);
  const isEnd = isKey(key, "q") || key.name === "escape" || key.name === "end-of-input";
  return isEnd || (key.name === "enter" && !state.isFollowing)
    ? { state, effects: [{ do: "quit" }] }
    : withoutEffects(state);
}

function isKey(key: Key, text: string) {
  return key.name === "character" && key.text === text;
}
