import type { Outcome } from "../../../core/question/question.ts";
import { EMPTY_LINE } from "./line-editor.ts";
import { type AnswerParts, type Next, type State, only, stepNow } from "./next-state.ts";
import { composeItems } from "./answer-step.ts";

/** Why whoever asked cannot take that, or nothing. */
export function sayOutcomeRefused({ card }: State, outcome: Outcome): string | undefined {
  const question = card?.read.question;
  if (!question) return undefined;
  if (question.accepts.includes(outcome) && (outcome !== "decide" || question.kind !== "approval")) return undefined;
  if (outcome === "clarify" && question.kind === "approval") return undefined; // an approval can always be asked back about
  return outcome === "decide"
    ? "Whoever asked this cannot decide it; choose or write an answer."
    : "Whoever asked this cannot be asked back; choose or write an answer.";
}

/** Everything that was chosen and written, as an answer. */
export function readParts({ card, draft }: State, over: Partial<AnswerParts> = {}): AnswerParts {
  const outcome = over.outcome ?? "answer";
  return {
    ...(outcome === "answer" && card && { items: composeItems(card.read.content, draft.picks) }),
    ...(draft.note !== "" && { note: draft.note }),
    ...(outcome === "answer" && draft.template !== undefined && { template: draft.template }),
    ...{ outcome, force: draft.isForced, confirmed: false },
    ...over,
  };
}

/** Goes on to the next step; at the last one the answer is given, after what has to be confirmed. */
export function give(state: State, parts: AnswerParts): Next {
  const steps = stepNow(state)?.steps ?? [];
  if (parts.outcome === "answer" && state.draft.step < steps.length - 1) return only(enterStep(goTo(state, 1)));
  return confirm(state, parts);
}

/** Asks for what an answer still needs: a typed word at high risk, whether others who ask the same get it too. */
export function confirm(state: State, parts: AnswerParts): Next {
  const { card } = state;
  if (!card) return only(state);
  const ready = { ...state, ready: parts, message: undefined };
  if (card.read.question.risk === "high" && !parts.confirmed) {
    return only({ ...ready, mode: { at: "write", what: "word", line: EMPTY_LINE } });
  }
  return card.same.length > 0 ? only({ ...ready, mode: { at: "sure", of: "same" } }) : send(ready, "this");
}

/** Gives the answer that is ready, to this question or to all that ask the same. */
export function send(state: State, whom: "this" | "all"): Next {
  const { card, ready } = state;
  if (!card || !ready) return only(state);
  const others = whom === "all" ? card.same.map(({ question }) => question.id) : [];
  const ids = [card.read.question.id, ...others];
  return { state: { ...state, mode: { at: "busy" } }, effects: [{ do: "answer", ids, answer: ready }] };
}

/** Moves between the steps of a question. */
export function goTo(state: State, by: 1 | -1): State {
  const steps = stepNow(state)?.steps.length ?? 1;
  const step = Math.max(0, Math.min(steps - 1, state.draft.step + by));
  return { ...state, draft: { ...state.draft, step }, mode: { at: "choose" }, message: undefined };
}

/** Where there is nothing to choose, writing begins at once. */
function enterStep(state: State): State {
  return stepNow(state)?.step.choices.length === 0 ? { ...state, mode: { at: "answer" } } : state;
}
