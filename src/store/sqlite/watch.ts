import { utimesSync, watch, type FSWatcher } from "node:fs";
import type { ChangeListeners } from "../change-listeners.ts";
import type { Connection } from "./connection.ts";

/** How often changes are polled: a writer may die before it touches the wake file. */
const LOOK_MS = 250;
const EVENTS_AT_ONCE = 1000;

const VERSION = "pragma data_version";
const LAST = "select max(seq) as seq from event";
const CHANGED = `select seq, case when json_valid(body) then body ->> '$.questionId' end as question_id
  from event where seq > ? order by seq limit ?`;

/** Notifies this process of changes by others, and others of its own. */
export class SqliteWatch {
  readonly #connection: Connection;
  readonly #listeners: ChangeListeners;
  readonly #wake: string;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #version = 0;
  #seq = 0;

  constructor(connection: Connection, listeners: ChangeListeners, wake: string) {
    this.#connection = connection;
    this.#listeners = listeners;
    this.#wake = wake;
  }

  /** Watches while there are listeners. */
  update(): void {
    if (this.#listeners.size > 0 && this.#timer === undefined) this.#start();
    if (this.#listeners.size === 0) this.stop();
  }

  /** Wakes the other processes. */
  touch(): void {
    const now = new Date();
    try {
      utimesSync(this.#wake, now, now);
    } catch {
      // The file may be gone or the disk read-only; the others poll every quarter of a second anyway.
    }
  }

  stop(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
    this.#watcher = undefined;
    this.#timer = undefined;
  }

  #start() {
    this.#timer = setInterval(() => {
      this.#look();
      this.#passOwn();
    }, LOOK_MS).unref();
    try {
      this.#seq = this.#lastSeq();
      this.#version = this.#readVersion();
    } catch {
      // Locked for a moment, or damaged: the next read or write reports the same error. The first look that succeeds
      // finds another version.
    }
    try {
      this.#watcher = watch(this.#wake, { persistent: false }, () => this.#look());
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // No watches are available: polling has to do.
    }
  }

  #look() {
    if (this.#timer === undefined) return;
    try {
      // The version counts writes of other connections; our own touches wake us too.
      const version = this.#readVersion();
      if (version === this.#version) return;
      this.#listeners.notify({ questions: this.#readChanged(), dueAt: undefined });
      this.#version = version;
    } catch {
      // Locked for a moment, or broken: the next read or write reports the same error.
    }
  }

  /** While the version is unchanged, all events so far are our own and need not be read. */
  #passOwn() {
    try {
      const last = this.#lastSeq();
      if (this.#readVersion() === this.#version) this.#seq = last;
    } catch {
      // As above.
    }
  }

  #readChanged() {
    const questions = new Set<string>();
    const changed = this.#connection.prepare<{ seq: number; question_id: string | null }>(CHANGED);
    for (;;) {
      const events = changed.all(this.#seq, EVENTS_AT_ONCE);
      for (const { question_id } of events) if (question_id !== null) questions.add(question_id);
      this.#seq = events.at(-1)?.seq ?? this.#seq;
      if (events.length < EVENTS_AT_ONCE) return questions;
    }
  }

  #readVersion() {
    return this.#connection.prepare<{ data_version: number }>(VERSION).get()?.data_version ?? 0;
  }

  #lastSeq() {
    return this.#connection.prepare<{ seq: number | null }>(LAST).get()?.seq ?? 0;
  }
}
