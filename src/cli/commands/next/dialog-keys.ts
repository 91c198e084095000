import { mayForce } from "../../../core/question/question.ts";
import { takeBack } from "./choose-keys.ts";
import { confirmAnswer, composeAnswer, sendAnswer } from "./submit-answer.ts";
import type { Key } from "../../terminal/keyboard.ts";
import {
  type Transition,
  type NextState,
  type OfferedTemplate,
  nextCard,
  withoutEffects,
  showCard,
  currentStep,
} from "./next-state.ts";
import { fillPick } from "./answer-step.ts";

type Of<At extends NextState["mode"]["at"]> = Extract<NextState["mode"], { at: At }>;

/** Any key closes the list of keys. */
export function pressKeys(state: NextState): Transition {
  return withoutEffects({ ...state, mode: { at: "choose" } });
}

/** Enter or y confirms; n or Esc declines; other keys do nothing. */
export function pressConfirm(state: NextState, { of }: Of<"sure">, key: Key): Transition {
  const isYes = key.name === "enter" || isKey(key, "y");
  const isNo = isKey(key, "n");
  if (key.name === "escape" || (isNo && of === "decide")) {
    return withoutEffects({ ...state, mode: { at: "choose" }, ready: undefined });
  }
  if (of === "same") return isYes ? sendAnswer(state, "all") : isNo ? sendAnswer(state, "this") : withoutEffects(state);
  // `y` opened this dialog, so only Enter confirms it.
  return key.name === "enter"
    ? confirmAnswer(state, composeAnswer(state, { outcome: "decide" }))
    : withoutEffects(state);
}

/** Fills the answer from a template; it can still be changed. */
export function pressTemplates(state: NextState, mode: Of<"templates">, key: Key): Transition {
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

function isKey(key: Key, text: string): boolean {
  return key.name === "character" && key.text === text;
}
