import type { Entry, Seal } from "../changes.ts";
import { type KeptEvent, chainHash } from "./event.ts";
import { digestOf } from "./row-digest.ts";

/**
 * The content of a seal: how far it read the feed, the digest of that part, and the last line of every chain that grew.
 */
export interface SealBody {
  at: string;
  cursor: string;
  /** The digest of all sealed lines, in feed order. */
  lines: string;
  /** By run id, with the run's number. */
  heads: Record<string, { n: number; hash: string; number?: number }>;
}

/** The entry that names the last seal, so that deleted seals at the end are noticed. */
export const LAST_SEAL = { kind: "seal", id: "last" } as const;

/** Chains the heads of all chains that grew since the previous seal into a new seal. */
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

/** Digests a part of the feed from the hashes of its lines, in order. */
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
