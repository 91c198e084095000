import { hash } from "node:crypto";
import type { Entry } from "../changes.ts";
import type { Job } from "../run/job.ts";

/**
 * The rows a commit writes, by name, each with the digest of its text; null for a deleted job. The last event of each
 * chain in a commit carries them, so the chain pins every row.
 */
export type RowDigests = Record<string, string | null>;

/**
 * Entries that change without an event: presence, heartbeats, leases, usage, when a channel last sent something, and how
 * far triggers have looked. How often a question was tried in vain and how far a message has come is compared with what
 * events say of it. Seals and anchors are outside the trail.
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

/** Says whether every change of an entry of this kind has an event that pins it. */
export function isPinnedKind(kind: string): boolean {
  return !UNPINNED_KINDS.has(kind);
}

/**
 * Says whether the events of a commit pin this entry. Copies of damaged rows are pinned too, unless they came with an
 * import, and what started a run, which has the run as its parent, but not how far triggers have looked.
 */
export function isPinnedEntry({ kind, parent }: { kind: string; parent: string | null }): boolean {
  return isPinnedKind(kind) || kind === "quarantine" || (kind === "trigger" && parent !== null);
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
