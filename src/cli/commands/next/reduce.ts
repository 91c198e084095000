import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { isPending } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { pressChoose, pressClosed, pressEmpty, pressKeys, pressConfirm, pressTemplates } from "./choose-keys.ts";
import type { Key } from "../../terminal/keyboard.ts";
import { editedLine } from "./line-editor.ts";
import {
  type QuestionCard,
  type Transition,
  type NextState,
  type OfferedTemplate,
  nextCard,
  withoutEffects,
  changePick,
  withMessage,
  showCard,
  currentStep,
} from "./next-state.ts";
import { writingRow } from "./answer-step.ts";
import { pressAnswer, pressWrite } from "./submit-answer.ts";

/** An event: a key, a new queue, or the result of an effect. */
export type NextEvent =
  | { type: "key"; key: Key }
  | { type: "resized"; size: NextState["size"] }
  /** The queue, and the shown question if it is no longer in it. */
  | { type: "waiting"; cards: readonly QuestionCard[]; now: Instant; shown?: QuestionSnapshot | undefined }
  | { type: "answered"; ids: readonly QuestionId[]; said: string; until?: Instant | undefined }
  /** Another effect is done; `leaves` if the question is finished. */
  | { type: "done"; text: string; leaves?: boolean }
  | { type: "undone"; card: QuestionCard }
  | { type: "refused"; text: string }
  /** A notice that does not interrupt the person. */
  | { type: "told"; text: string }
  | { type: "counted"; id: QuestionId; known: NextState["known"] }
  | { type: "edited"; text: string | undefined }
  | { type: "templates"; templates: readonly OfferedTemplate[] };

/** The next state after an event, and the effects to run. Nothing else changes the state. */
export function reduce(state: NextState, event: NextEvent): Transition {
  switch (event.type) {
    case "key":
      return reduceKey(state, event.key);
    case "resized":
      return withoutEffects({ ...state, size: event.size });
    case "waiting":
      return takeQueue(state, event);
    case "answered":
      return showNext(withMessage(noteAnswer(state, event), `Answered: ${event.said}`, "good"), event.ids);
    case "done":
      return event.leaves && state.card
        ? showNext(withMessage(state, event.text, "good"), [state.card.read.question.id])
        : withoutEffects(withMessage({ ...state, mode: backMode(state) }, event.text, "good"));
    case "undone":
      return reopenCard(state, event.card);
    case "refused":
      return withoutEffects(withMessage({ ...state, mode: backMode(state), ready: undefined }, event.text, "bad"));
    case "told":
      return withoutEffects(withMessage(state, event.text, "bad"));
    case "counted":
      return withoutEffects(state.card?.read.question.id === event.id ? { ...state, known: event.known } : state);
    case "edited":
      return withoutEffects(takeText({ ...state, mode: { at: "choose" } }, event.text));
    case "templates":
      return withoutEffects(
        event.templates.length > 0
          ? { ...state, mode: { at: "templates", templates: event.templates, cursor: 0 } }
          : withMessage({ ...state, mode: { at: "choose" } }, "No template fits. See all: askd template list"),
      );
    default:
      return unreachable(event);
  }
}

function reduceKey(state: NextState, key: Key): Transition {
  const { mode } = state;
  if (key.name === "interrupt") return { state, effects: [{ do: "quit" }] };
  if (key.name === "suspend") return { state, effects: [{ do: "suspend" }] };
  switch (mode.at) {
    case "choose":
      return pressChoose(state, key);
    case "answer":
      return pressAnswer(state, key);
    case "write":
      return pressWrite(state, mode, key);
    case "sure":
      return pressConfirm(state, mode, key);
    case "templates":
      return pressTemplates(state, mode, key);
    case "keys":
      return pressKeys(state);
    case "closed":
      return pressClosed(state, key);
    case "empty":
      return pressEmpty(state, key);
    case "busy":
      return withoutEffects(state);
    default:
      return unreachable(mode);
  }
}

/** Takes in a new queue. The shown card never changes its place. */
function takeQueue(before: NextState, { cards, now, shown }: Extract<NextEvent, { type: "waiting" }>): Transition {
  const ids = cards.map(({ read }) => read.question.id);
  const isRung = before.seen !== undefined && ids.some((id) => !before.seen?.includes(id));
  const isBack = (id: string) => !before.skipped.includes(id) && !before.done.includes(id);
  const state: NextState = {
    ...before,
    now,
    queue: cards.filter(({ read }) => isBack(read.question.id)),
    skipped: before.skipped.filter((id) => cards.some(({ read }) => read.question.id === id)),
    seen: [...new Set([...(before.seen ?? []), ...ids])],
    last: before.last && before.last.until > now ? before.last : undefined,
  };
  const next = placeCard(state, cards, shown);
  return isRung ? { ...next, effects: [...next.effects, { do: "bell" }] } : next;
}

function placeCard(state: NextState, cards: readonly QuestionCard[], shown: QuestionSnapshot | undefined): Transition {
  const { card } = state;
  if (!card) {
    const first = nextCard(state, []);
    if (first) return showCard(state, first);
    const isOver = !state.isFollowing && state.last === undefined;
    return { state: { ...state, mode: { at: "empty" } }, effects: isOver ? [{ do: "quit" }] : [] };
  }
  const current = cards.find(({ read }) => read.question.id === card.read.question.id);
  if (current) return withoutEffects({ ...state, card: current });
  if (!shown || shown.question.id !== card.read.question.id) return withoutEffects(state);
  const closed = { ...state, card: { ...card, read: shown, same: [] } };
  const isMine = state.done.includes(shown.question.id) || state.draft.isForced;
  const isTold = state.mode.at === "closed" || state.mode.at === "busy";
  if (isMine || isTold || !isGone(shown)) return withoutEffects(closed);
  return withoutEffects({
    ...closed,
    mode: { at: "closed" },
    kept: keptText(state),
    ready: undefined,
    message: undefined,
  });
}

/** Says whether somebody else closed or answered the question. */
function isGone({ question }: QuestionSnapshot) {
  return !isPending(question) || question.settling !== undefined;
}

/** Everything that the person has written for the question. */
function keptText(state: NextState) {
  const aside = state.mode.at === "write" && ["note", "clarify"].includes(state.mode.what) ? state.mode.line.text : "";
  const written = state.draft.picks.map(({ line }) => line.text.trim()).filter((text) => text !== "");
  return [...written, aside.trim() || state.draft.note].filter((text) => text !== "").join("\n");
}

function noteAnswer(state: NextState, { ids, said, until }: Extract<NextEvent, { type: "answered" }>): NextState {
  return { ...state, done: [...state.done, ...ids], ready: undefined, ...(until && { last: { ids, said, until } }) };
}

/** Shows the next waiting question. */
function showNext(state: NextState, ids: readonly string[]): Transition {
  const next = showCard(
    { ...state, queue: state.queue.filter(({ read }) => !ids.includes(read.question.id)) },
    nextCard(state, ids),
  );
  return { ...next, state: { ...next.state, message: state.message } };
}

/** Shows the question of an undone answer again, with its draft. */
function reopenCard(state: NextState, card: QuestionCard): Transition {
  const ids = [card.read.question.id, ...(state.last?.ids ?? [])];
  const done = state.done.filter((id) => !ids.some((other) => other === id));
  const shown = showCard({ ...state, done, last: undefined }, card);
  const next = card.read.question.risk === "high" ? withoutSelection(shown) : shown;
  return { ...next, state: withMessage(next.state, "Undone. The question waits for your answer again.", "good") };
}

/** At high risk nothing is selected, also after an undo; what was written stays. */
function withoutSelection({ state, effects }: Transition): Transition {
  const picks = state.draft.picks.map((pick) => (pick.isWritten ? pick : { ...pick, cursor: -1, ticked: [] }));
  return { state: { ...state, draft: { ...state.draft, picks } }, effects };
}

function backMode(state: NextState): NextState["mode"] {
  if (!state.card) return { at: "empty" };
  return state.mode.at === "closed" ? state.mode : { at: "choose" };
}

/** Puts a text into the answer; Enter sends it. */
function takeText(state: NextState, text: string | undefined): NextState {
  const now = currentStep(state);
  if (text === undefined) return withMessage(state, "The editor failed; nothing was changed.", "bad");
  if (!now || text.trim() === "") return withMessage(state, "You wrote nothing.");
  const cursor = writingRow(now.step);
  if (cursor === undefined) return withMessage(state, "Only the options can be chosen here.", "bad");
  return { ...changePick(state, { line: editedLine(text.trim()), cursor }), mode: { at: "answer" } };
}
