import type { Read } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { isPending } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { pressChoose } from "./choose-keys.ts";
import type { Key } from "../../next/key.ts";
import { lineOf } from "./line-editor.ts";
import { pressClosed, pressEmpty, pressKeys, pressSure, pressTemplates } from "../../next/press.ts";
import {
  type Card,
  type Next,
  type State,
  type Template,
  nextCard,
  only,
  pickNow,
  say,
  showCard,
  stepNow,
} from "./next-state.ts";
import { pressAnswer, pressWrite } from "./writing-keys.ts";

/** What happened: at the keyboard, in the store, or to something that was to be done. */
export type Event =
  | { type: "key"; key: Key }
  | { type: "resized"; size: State["size"] }
  /** What waits now, and how the shown question stands where it no longer does. */
  | { type: "waiting"; cards: readonly Card[]; now: Instant; shown?: Read | undefined }
  | { type: "answered"; ids: readonly QuestionId[]; said: string; until?: Instant | undefined }
  /** Something else was done; `leaves` when the question is no longer to be looked at. */
  | { type: "done"; text: string; leaves?: boolean }
  | { type: "undone"; card: Card }
  | { type: "refused"; text: string }
  /** Something that does not end what the person is doing. */
  | { type: "told"; text: string }
  | { type: "counted"; id: QuestionId; known: State["known"] }
  | { type: "edited"; text: string | undefined }
  | { type: "templates"; templates: readonly Template[] };

/** What the state becomes by what happened, and what is to be done then. Nothing else changes the state. */
export function reduce(state: State, event: Event): Next {
  switch (event.type) {
    case "key":
      return press(state, event.key);
    case "resized":
      return only({ ...state, size: event.size });
    case "waiting":
      return hear(state, event);
    case "answered":
      return leave(say(noteAnswer(state, event), `Answered: ${event.said}`, "good"), event.ids);
    case "done":
      return event.leaves && state.card
        ? leave(say(state, event.text, "good"), [state.card.read.question.id])
        : only(say({ ...state, mode: backMode(state) }, event.text, "good"));
    case "undone":
      return undone(state, event.card);
    case "refused":
      return only(say({ ...state, mode: backMode(state), ready: undefined }, event.text, "bad"));
    case "told":
      return only(say(state, event.text, "bad"));
    case "counted":
      return only(state.card?.read.question.id === event.id ? { ...state, known: event.known } : state);
    case "edited":
      return only(takeText({ ...state, mode: { at: "choose" } }, event.text));
    case "templates":
      return only(
        event.templates.length > 0
          ? { ...state, mode: { at: "templates", templates: event.templates, cursor: 0 } }
          : say({ ...state, mode: { at: "choose" } }, "No template fits. See all: askd template list"),
      );
    default:
      return unreachable(event);
  }
}

function press(state: State, key: Key): Next {
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
      return pressSure(state, mode, key);
    case "templates":
      return pressTemplates(state, mode, key);
    case "keys":
      return pressKeys(state);
    case "closed":
      return pressClosed(state, key);
    case "empty":
      return pressEmpty(state, key);
    case "busy":
      return only(state);
    default:
      return unreachable(mode);
  }
}

/** Takes in what waits now. The card that somebody reads never moves. */
function hear(before: State, { cards, now, shown }: Extract<Event, { type: "waiting" }>): Next {
  const ids = cards.map(({ read }) => read.question.id);
  const isRung = before.seen !== undefined && ids.some((id) => !before.seen?.includes(id));
  const isBack = (id: string): boolean => !before.skipped.includes(id) && !before.done.includes(id);
  const state: State = {
    ...before,
    now,
    queue: cards.filter(({ read }) => isBack(read.question.id)),
    seen: [...new Set([...(before.seen ?? []), ...ids])],
    last: before.last && before.last.until > now ? before.last : undefined,
  };
  const next = place(state, cards, shown);
  return isRung ? { ...next, effects: [...next.effects, { do: "bell" }] } : next;
}

function place(state: State, cards: readonly Card[], shown: Read | undefined): Next {
  const { card } = state;
  if (!card) {
    const first = nextCard(state, []);
    if (first) return showCard(state, first);
    const isOver = !state.isFollowing && state.last === undefined;
    return { state: { ...state, mode: { at: "empty" } }, effects: isOver ? [{ do: "quit" }] : [] };
  }
  const current = cards.find(({ read }) => read.question.id === card.read.question.id);
  if (current) return only({ ...state, card: current });
  if (!shown || shown.question.id !== card.read.question.id) return only(state);
  const closed = { ...state, card: { ...card, read: shown, same: [] } };
  const isMine = state.done.includes(shown.question.id) || state.draft.isForced;
  const isTold = state.mode.at === "closed" || state.mode.at === "busy";
  if (isMine || isTold || !isGone(shown)) return only(closed);
  return only({ ...closed, mode: { at: "closed" }, kept: keptText(state), ready: undefined, message: undefined });
}

/** Somebody else has closed it, or has just answered it. */
function isGone({ question }: Read): boolean {
  return !isPending(question) || question.settling !== undefined;
}

/** What the person has written, here or in a line of its own. */
function keptText(state: State): string {
  const aside = state.mode.at === "write" && ["note", "clarify"].includes(state.mode.what) ? state.mode.line.text : "";
  const written = state.draft.picks.map(({ line }) => line.text.trim()).filter((text) => text !== "");
  return [...written, aside.trim() || state.draft.note].filter((text) => text !== "").join("\n");
}

function noteAnswer(state: State, { ids, said, until }: Extract<Event, { type: "answered" }>): State {
  return { ...state, done: [...state.done, ...ids], ready: undefined, ...(until && { last: { ids, said, until } }) };
}

/** Goes on to what waits next. */
function leave(state: State, ids: readonly string[]): Next {
  const next = showCard(
    { ...state, queue: state.queue.filter(({ read }) => !ids.includes(read.question.id)) },
    nextCard(state, ids),
  );
  return { ...next, state: { ...next.state, message: state.message } };
}

/** Shows the question again whose answer was taken back, as it was when it was answered. */
function undone(state: State, card: Card): Next {
  const ids = [card.read.question.id, ...(state.last?.ids ?? [])];
  const done = state.done.filter((id) => !ids.some((other) => other === id));
  const next = showCard({ ...state, done, last: undefined }, card);
  return { ...next, state: say(next.state, "Taken back. It waits for your answer again.", "good") };
}

function backMode(state: State): State["mode"] {
  if (!state.card) return { at: "empty" };
  return state.mode.at === "closed" ? state.mode : { at: "choose" };
}

/** Puts a text into the answer, to be sent with Enter. */
function takeText(state: State, text: string | undefined): State {
  const now = stepNow(state);
  if (text === undefined) return say(state, "The editor did not end well; nothing was changed.", "bad");
  if (!now || text.trim() === "") return say(state, "Nothing was written.");
  if (!now.step.allowText) return say(state, "Only the options can be chosen here.", "bad");
  const line = lineOf(text.trim());
  return { ...pickNow(state, { line, cursor: now.step.choices.length }), mode: { at: "answer" } };
}
