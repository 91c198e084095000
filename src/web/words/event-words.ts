import { actorName } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { isMessageKey } from "./words.ts";

// The audit trail shows all events, cards only these.
const ON_CARDS: ReadonlySet<Event["type"]> = new Set([
  "question.asked",
  "question.parked",
  "question.announced",
  "question.notified",
  "question.delivery_failed",
  "question.reminded",
  "question.claimed",
  "question.released",
  "question.assigned",
  "question.snoozed",
  "question.extended",
  "question.commented",
  "question.linked",
  "question.voted",
  "question.vote_removed",
  "question.quorum_changed",
  "question.settling",
  "question.answered",
  "question.undone",
  "question.amended",
  "question.late_reply",
  "question.refused",
  "question.forced",
  "question.given",
  "question.timed_out",
  "question.escalated",
  "question.cancelled",
  "run.parked",
  "run.resuming",
  "run.resumed",
  "run.completed",
  "run.failed",
  "run.skipped",
  "run.cancelled",
  "run.notified",
  "run.delivery_failed",
] as const);

/** True if an event is shown on a card. */
export function isShownOnCard(event: Event): boolean {
  return ON_CARDS.has(event.type);
}

/** An event in the reader's language, by the name of its actor; empty if cards do not show it. */
export function eventWords(reader: PageReader, event: Event, name: string = actorName(event.by)): string {
  const key = isShownOnCard(event) ? keyOf(event.type) : undefined;
  const channel = event.detail?.["channel"];
  const about = typeof channel === "string" ? channel : event.by.channel;
  return key === undefined ? "" : tell(reader, key, { name: makeVisible(name), channel: makeVisible(about) });
}

/** An event of the audit trail in the reader's language. */
export function trailWords(reader: PageReader, event: Event, name: string = actorName(event.by)): string {
  if (isNeverGiven(event)) return tell(reader, "event.void");
  if (isStartedAgain(event)) return tell(reader, "event.run.resumed");
  return eventWords(reader, event, name) || kindWords(reader, event.type);
}

/** The name of an event type, with `…` for its details. */
export function kindWords(reader: PageReader, type: Event["type"]): string {
  const key = keyOf(type);
  return key === undefined ? type : tell(reader, key, { name: "…", channel: "…" });
}

function keyOf(type: Event["type"]) {
  const key = `event.${type.replace(/^question\./, "")}`;
  return isMessageKey(key) ? key : undefined;
}

/** A run starts once; every later start is a resume. */
function isStartedAgain({ type, from }: Event) {
  return type === "run.started" && from !== undefined && from !== "queued" && from !== "running";
}

/** True if an outcome can never reach its agent. Failed messages have the same event type, but name a channel. */
export function isNeverGiven({ type, detail }: Event): boolean {
  return type === "question.delivery_failed" && detail?.["channel"] === undefined;
}
