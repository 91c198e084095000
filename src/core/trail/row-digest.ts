import { hash } from "node:crypto";
import type { Entry } from "../changes.ts";
import type { Job } from "../run/job.ts";

/**
 * The rows that a commit leaves behind, by name, each with the digest of its text; null for a job that is gone. The
 * last event of each chain in a commit carries them, so the chain pins every row and not only what events tell.
 */
export type RowDigests = Record<string, string | null>;

/** Entries that change without an event: presence, heartbeats and usage; seals and anchors are outside the trail. */
const UNPINNED_KINDS: ReadonlySet<string> = new Set<Entry["kind"]>([
  "worker",
  "usage",
  "clock",
  "seal",
  "anchor",
  "roster",
]);

export const RUN_ROW = "run";

/** The digest of a row's text, exactly as it is kept. */
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

/** Pins an entry: several chains may tell of it, so its version says which of them tells of its last change. */
export function entryDigest({ parent, body }: { parent: string | null; body: string }, version: number): string {
  return `${version} ${digestOf(`${parent ?? ""}\n${body}`)}`;
}

/** Pins what a job is and when it was first due. How often it was tried, and when it is tried again, is not pinned. */
export function jobDigest(job: Job): string {
  const { dueAt, tries: _tries, failure: _failure, claim: _claim, ...fixed } = job;
  return `${dueAt} ${digestOf(JSON.stringify(fixed))}`;
}
