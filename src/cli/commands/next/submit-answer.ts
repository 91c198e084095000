import type { Outcome } from "../../../core/question/question.ts";
import { EMPTY_LINE } from "./line-editor.ts";
import { type AnswerParts, type Transition, type NextState, withoutEffects, currentStep } from "./next-state.ts";
import { composeItems } from "./answer-step.ts";

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
