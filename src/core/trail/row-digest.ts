import { hash } from "node:crypto";
import type { Entry } from "../changes.ts";
import type { Job } from "../run/job.ts";

/**
 * The rows a commit writes, by name, each with the digest of its text; null for a deleted job. The last event of each
 * chain in a commit carries them, so the chain pins every row.
 */
export type RowDigests = Record<string, string | null>;

/**
 * Entries that change without an event: presence, heartbeats, leases, usage, how often a question was tried in vain, how
 * far a message has come, when a channel last sent something, for whom and where it is stands in its question, and how far triggers have looked. Seals and
 * anchors are outside the trail, and so are the copies of damaged rows.
 */
const UNPINNED_KINDS: ReadonlySet<string> = new Set<Entry["kind"]>([
  "worker",
  "usage",
  "clock",
  "seal",
  "anchor",
  "refused",
  "delivery",
  "listener",
  "presence",
  "outage",
  "last_sent",
  "digest",
  "attention",
  "quarantine",
  "trigger",
]);

export const RUN_ROW = "run";

/** The digest of a row's exact stored text. */
export function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

export function contentRow(name: string): string {
  return `content ${name}`;
}

export function entryRow({ kind, id }: Pick<Entry, "kind" | "id">): string {
  return `entry ${kind} ${id}`;
}

export function jobRow(key: string): string {
  return `job ${key}`;
}

/** Says whether the trail pins entries of this kind. */
export function isPinnedKind(kind: string): boolean {
  return !UNPINNED_KINDS.has(kind);
}

/** The digest of an entry: several chains may pin it, so its version says which is the latest. */
export function entryDigest({ parent, body }: { parent: string | null; body: string }, version: number): string {
  return `${version} ${digestOf(`${parent ?? ""}\n${body}`)}`;
}

/** The digest of a job and when it was first due. Its tries and next attempt are not pinned. */
export function jobDigest(job: Job): string {
  const { dueAt, tries: _tries, failure: _failure, claim: _claim, ...fixed } = job;
  return `${dueAt} ${digestOf(JSON.stringify(fixed))}`;
}
