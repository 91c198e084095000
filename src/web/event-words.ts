import type { Event } from "../core/event.ts";
import { EVENT_WORDS, eventWords } from "./aside.tsx";
import { type Reader, tell } from "./reader.ts";
import type { Key } from "./words.ts";

// What a card leaves out, so that the whole trail can be read in words.
const MORE: Readonly<Partial<Record<Event["type"], Key>>> = {
  "question.held": "event.held",
  "question.handing": "event.handing",
  "run.queued": "event.run.queued",
  "run.started": "event.run.started",
  "run.blocked": "event.run.blocked",
  "run.deferred": "event.run.deferred",
  "workflow.step_completed": "event.step",
  "alert.pending": "event.alert.pending",
  "alert.timeout_rate": "event.alert.timeout_rate",
};

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
