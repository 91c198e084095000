import type { Entry, Seal } from "../changes.ts";
import { type KeptEvent, chainHash } from "./event.ts";
import { digestOf } from "./row-digest.ts";

/** What a seal holds: how far it read the feed, what it read, and the last line of every chain that grew. */
export interface SealBody {
  at: string;
  cursor: string;
  /** The digest of all lines that it seals, in the order of the feed. */
  lines: string;
  /** By the id of its run, with the number that people call the run by. */
  heads: Record<string, { n: number; hash: string; number?: number }>;
}

/** The entry that names the last seal: without it nobody would see that the last seals were deleted. */
export const LAST_SEAL = { kind: "seal", id: "last" } as const;

/** Binds the chains that grew since the previous seal into one line of a chain of its own. */
export function seal(
  previous: Seal | undefined,
  events: readonly KeptEvent[],
  { at, numbers }: { at: string; numbers: ReadonlyMap<string, number> },
): Seal {
  const heads: SealBody["heads"] = {};
  for (const { event, n, hash } of events) heads[event.runId] = { n, hash, number: numbers.get(event.runId) };
  const lines = digestOfLines(events.map(({ hash }) => hash));
  const body: SealBody = { at, cursor: events.at(-1)?.cursor ?? "", lines, heads };
  const text = JSON.stringify(body);
  return { n: (previous?.n ?? 0) + 1, body: text, hash: chainHash(previous?.hash ?? "", text) };
}

/** Names a part of the feed by the hashes of its lines, in their order. */
export function digestOfLines(hashes: readonly string[]): string {
  return digestOf(hashes.join("\n"));
}

/** The entry that names this seal as the last one; `version` is that of the entry it replaces. */
export function lastSealEntry({ n, hash }: Seal, version: number): Entry {
  return { ...LAST_SEAL, version, body: { n, hash } };
}

export function readSeal(kept: Seal): SealBody {
  return JSON.parse(kept.body) as SealBody; // written by `seal`; its hash was checked before
}
