import { mayForce } from "../../core/force.ts";
import { takeBack } from "../commands/next/choose-keys.ts";
import { confirm, readParts, send } from "../commands/next/submit-answer.ts";
import type { Key } from "./key.ts";
import { type Next, type State, type Template, nextCard, only, showCard, stepNow } from "../commands/next/next-state.ts";
import { fillPick } from "../commands/next/answer-step.ts";

type Of<At extends State["mode"]["at"]> = Extract<State["mode"], { at: At }>;

/** Any key leaves the list of keys. */
export function pressKeys(state: State): Next {
  return only({ ...state, mode: { at: "choose" } });
}

/** Yes is Enter or y; anything else but n and Esc is not an answer. */
export function pressSure(state: State, { of }: Of<"sure">, key: Key): Next {
  const isYes = key.name === "enter" || isKey(key, "y");
  const isNo = isKey(key, "n");
  if (key.name === "escape" || (isNo && of === "decide")) {
    return only({ ...state, mode: { at: "choose" }, ready: undefined });
  }
  if (of === "same") return isYes ? send(state, "all") : isNo ? send(state, "this") : only(state);
  // `y` has just been pressed to come here: only Enter leaves the choice to the agent.
  return key.name === "enter" ? confirm(state, readParts(state, { outcome: "decide" })) : only(state);
}

/** A canned answer is put into the line, where it can still be changed. */
export function pressTemplates(state: State, mode: Of<"templates">, key: Key): Next {
  const last = mode.templates.length - 1;
  const by = key.name === "up" || isKey(key, "k") ? -1 : key.name === "down" || isKey(key, "j") ? 1 : 0;
  if (by !== 0) return only({ ...state, mode: { ...mode, cursor: Math.max(0, Math.min(last, mode.cursor + by)) } });
  if (key.name === "character" && /^[1-9]$/.test(key.text)) {
    return only({ ...state, mode: { ...mode, cursor: Math.min(last, Number(key.text) - 1) } });
  }
  const chosen = key.name === "enter" ? mode.templates[mode.cursor] : undefined;
  if (chosen) return only(fillIn(state, chosen));
  return only(key.name === "escape" || isKey(key, "q") ? { ...state, mode: { at: "choose" } } : state);
}

/** What the template says is selected and written; Enter sends it, after what one may change. */
function fillIn(state: State, { name, items, note }: Template): State {
  const steps = stepNow(state)?.steps ?? [];
  const picks = state.draft.picks.map((pick, index) => {
    const step = steps[index];
    const answer = step && items[step.itemId];
    return step && answer ? fillPick(step, pick, answer) : pick;
  });
  const draft = { ...state.draft, step: 0, picks, template: name, note: note ?? state.draft.note };
  const isText = steps.length === 1 && picks[0]?.isWritten === true;
  return { ...state, draft, mode: isText ? { at: "answer" } : { at: "choose" } };
}

/** A key while the card says that somebody else was first, or the time. */
export function pressClosed(state: State, key: Key): Next {
  const { card, kept } = state;
  if (!card) return only(state);
  const { id } = card.read.question;
  if (isKey(key, "q")) return { state, effects: [{ do: "quit" }] };
  if (isKey(key, "c") && kept !== "") return { state, effects: [{ do: "copy", text: kept }] };
  if (isKey(key, "n") && kept !== "") return { state, effects: [{ do: "comment", id, text: kept }] };
  if (isKey(key, "f") && mayForce(card.read.run, card.read.question)) {
    return only({ ...state, draft: { ...state.draft, isForced: true }, mode: { at: "choose" } });
  }
  if (key.name !== "enter" && !isKey(key, "s")) return only(state);
  return showCard({ ...state, done: [...state.done, id] }, nextCard(state, [id]));
}

/** Nothing waits: the last answer can be taken back, and one can leave. */
export function pressEmpty(state: State, key: Key): Next {
  if (isKey(key, "u")) return takeBack(state);
  const isEnd = isKey(key, "q") || key.name === "escape" || key.name === "end-of-input";
  return isEnd || (key.name === "enter" && !state.isFollowing) ? { state, effects: [{ do: "quit" }] } : only(state);
}

function isKey(key: Key, text: string): boolean {
  return key.name === "character" && key.text === text;
}
