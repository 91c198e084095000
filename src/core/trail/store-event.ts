import type { Actor } from "../people/actor.ts";
import type { Changes, Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import type { Event } from "./event.ts";
import { STORE_CHAIN } from "../id.ts";
import type { Instant } from "../instant.ts";

interface EventContext {
  now: Instant;
  by: Actor;
}

/** A change of an entry that belongs to no run, such as a token or a person, with the word for what happened. */
export interface EntryChange {
  type: Extract<
    Event["type"],
    `token.${string}` | `person.${string}` | `template.${string}` | `workflow.${string}` | "alert.cleared" | "key.made"
  >;
  entry: Entry;
  from: string | undefined;
  to: string;
  /** Details for people. */
  detail: Record<string, unknown>;
}

/** Writes an entry together with its event. */
export function changeEntry(change: EntryChange, at: EventContext): Changes {
  const { type, entry, from, to, detail } = change;
  const event: Event = {
    type,
    at: at.now,
    runId: STORE_CHAIN,
    by: at.by,
    from,
    to,
    version: entry.version + 1,
    detail: { ...detail, ...entryTrace(entry) },
  };
  return { entries: [entry], events: [event] };
}

/** Refers to an entry in an event, with the hash of its body. */
export function entryTrace(entry: Entry): { kind: string; id: string; body: string } {
  return { kind: entry.kind, id: entry.id, body: hashText(JSON.stringify(entry.body)) };
}

/** Joins changes into one commit, in this order. */
export function joinChanges(all: readonly Changes[]): Changes {
  return {
    runs: all.flatMap(({ runs = [] }) => runs),
    questions: all.flatMap(({ questions = [] }) => questions),
    entries: all.flatMap(({ entries = [] }) => entries),
    events: all.flatMap(({ events = [] }) => events),
    scheduled: all.flatMap(({ scheduled = [] }) => scheduled),
    dropped: all.flatMap(({ dropped = [] }) => dropped),
  };
}

/** Records that somebody stopped the server or the worker of a machine; nothing else changes. */
export function stopService(stopped: { host: string; processes: readonly number[] }, at: EventContext): Changes {
  const event: Event = {
    type: "service.stopped",
    at: at.now,
    runId: STORE_CHAIN,
    by: at.by,
    to: "stopped",
    version: 0,
    detail: { ...stopped },
  };
  return { events: [event] };
}
