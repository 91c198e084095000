import { sayActor } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Reader, tell } from "../parts/reader.ts";
import type { Key } from "./words.ts";

// Events that are worth a line to people; the rest is in the audit trail.
const EVENT_WORDS: Readonly<Partial<Record<Event["type"], Key>>> = {
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

// What a card leaves out, so that the whole trail can be read in words.
const MORE: Readonly<Partial<Record<Event["type"], Key>>> = {
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

/** Says whether an event is shown on a card. */
export function isTold(event: Event): boolean {
  return EVENT_WORDS[event.type] !== undefined;
}

/** What happened, in the reader's words; nothing for an event that is not told. */
export function eventWords(reader: Reader, event: Event): string {
  const key = EVENT_WORDS[event.type];
  const channel = event.detail?.["channel"];
  const about = typeof channel === "string" ? channel : event.by.channel;
  return key === undefined
    ? ""
    : tell(reader, key, { name: makeVisible(sayActor(event.by)), channel: makeVisible(about) });
}

/** What happened, in words; every event has some. */
export function trailWords(reader: Reader, event: Event): string {
  const key = isNeverGiven(event) ? "event.void" : isStartedAgain(event) ? "event.run.resumed" : MORE[event.type];
  return key === undefined ? eventWords(reader, event) || event.type : tell(reader, key);
}

/** What kind of event it is, in words; whom and what it is about is left open. */
export function kindWords(reader: Reader, type: Event["type"]): string {
  const key = MORE[type] ?? EVENT_WORDS[type];
  return key === undefined ? type : tell(reader, key, { name: "…", channel: "…" });
}

/** A run starts once; from whatever stop it comes, after that it goes on. */
function isStartedAgain({ type, from }: Event): boolean {
  return type === "run.started" && from !== undefined && from !== "queued" && from !== "running";
}

/** An outcome that its agent can no longer be given, which is no message to anybody. */
export function isNeverGiven({ type, detail }: Event): boolean {
  return type === "question.delivery_failed" && detail?.["channel"] === undefined;
}
