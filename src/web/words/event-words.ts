import { actorName } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/reader.ts";
import type { MessageKey } from "./words.ts";

// Events shown on a card; the audit trail shows all.
const CARD_WORDS: Readonly<Partial<Record<Event["type"], MessageKey>>> = {
  "question.asked": "event.asked",
  "question.parked": "event.parked",
  "question.notified": "event.notified",
  "question.delivery_failed": "event.delivery_failed",
  "question.reminded": "event.reminded",
  "question.claimed": "event.claimed",
  "question.released": "event.released",
  "question.assigned": "event.assigned",
  "question.snoozed": "event.snoozed",
  "question.extended": "event.extended",
  "question.commented": "event.commented",
  "question.linked": "event.linked",
  "question.voted": "event.voted",
  "question.vote_removed": "event.vote_removed",
  "question.settling": "event.settling",
  "question.answered": "event.answered",
  "question.undone": "event.undone",
  "question.amended": "event.amended",
  "question.late_reply": "event.late_reply",
  "question.refused": "event.refused",
  "question.forced": "event.forced",
  "question.given": "event.given",
  "question.timed_out": "event.timed_out",
  "question.escalated": "event.escalated",
  "question.cancelled": "event.cancelled",
  "run.parked": "event.run.parked",
  "run.resuming": "event.run.resuming",
  "run.resumed": "event.run.resumed",
  "run.completed": "event.run.completed",
  "run.failed": "event.run.failed",
  "run.skipped": "event.run.skipped",
  "run.cancelled": "event.run.cancelled",
};

// Events shown only in the audit trail.
const TRAIL_WORDS: Readonly<Partial<Record<Event["type"], MessageKey>>> = {
  "question.held": "event.held",
  "question.handing": "event.handing",
  "question.owed": "event.owed",
  "run.queued": "event.run.queued",
  "run.started": "event.run.started",
  "run.blocked": "event.run.blocked",
  "run.deferred": "event.run.deferred",
  "run.imported": "event.run.imported",
  "token.made": "event.token.made",
  "token.used": "event.token.used",
  "token.handed_over": "event.token.handed_over",
  "token.revoked": "event.token.revoked",
  "token.expired": "event.token.expired",
  "person.added": "event.person.added",
  "person.changed": "event.person.changed",
  "person.removed": "event.person.removed",
  "workflow.step_completed": "event.step",
  "alert.pending": "event.alert.pending",
  "alert.timeout_rate": "event.alert.timeout_rate",
  "alert.cleared": "event.alert.cleared",
  "template.saved": "event.template.saved",
  "template.removed": "event.template.removed",
};

/** True if an event is shown on a card. */
export function isShownOnCard(event: Event): boolean {
  return CARD_WORDS[event.type] !== undefined;
}

/** An event in the reader's language, by the name of its actor; empty if cards do not show it. */
export function eventWords(reader: PageReader, event: Event, name: string = actorName(event.by)): string {
  const key = CARD_WORDS[event.type];
  const channel = event.detail?.["channel"];
  const about = typeof channel === "string" ? channel : event.by.channel;
  return key === undefined ? "" : tell(reader, key, { name: makeVisible(name), channel: makeVisible(about) });
}

/** An event of the audit trail in the reader's language. */
export function trailWords(reader: PageReader, event: Event, name: string = actorName(event.by)): string {
  const key = isNeverGiven(event)
    ? "event.void"
    : isStartedAgain(event)
      ? "event.run.resumed"
      : TRAIL_WORDS[event.type];
  return key === undefined ? eventWords(reader, event, name) || event.type : tell(reader, key);
}

/** The name of an event type, with `…` for its details. */
export function kindWords(reader: PageReader, type: Event["type"]): string {
  const key = TRAIL_WORDS[type] ?? CARD_WORDS[type];
  return key === undefined ? type : tell(reader, key, { name: "…", channel: "…" });
}

/** A run starts once; every later start is a resume. */
function isStartedAgain({ type, from }: Event): boolean {
  return type === "run.started" && from !== undefined && from !== "queued" && from !== "running";
}

/** True if an outcome can never reach its agent. Failed messages have the same event type, but name a channel. */
export function isNeverGiven({ type, detail }: Event): boolean {
  return type === "question.delivery_failed" && detail?.["channel"] === undefined;
}
