import type { Seal } from "./changes.ts";
import { type KeptEvent, chainHash } from "./event.ts";

/** What a seal holds: how far it read the feed, and the last line of every chain that grew. */
export interface SealBody {
  at: string;
  cursor: string;
  heads: Record<string, { n: number; hash: string }>;
}

/** Binds the chains that grew since the previous seal into one line of a chain of its own. */
export function seal(previous: Seal | undefined, events: readonly KeptEvent[], at: string): Seal {
  const heads: SealBody["heads"] = {};
  for (const { event, n, hash } of events) heads[event.runId] = { n, hash };
  const body: SealBody = { at, cursor: events.at(-1)?.cursor ?? "", heads };
  const text = JSON.stringify(body);
  return { n: (previous?.n ?? 0) + 1, body: text, hash: chainHash(previous?.hash ?? "", text) };
}

export function readSeal(kept: Seal): SealBody {
  return JSON.parse(kept.body) as SealBody; // written by `seal`; its hash was checked before
}
