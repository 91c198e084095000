import type { Anchor } from "../../core/trail/anchor.ts";
import { chainHash } from "../../core/trail/event.ts";
import { LAST_SEAL, type SealBody, digestOfLines, readSeal } from "../../core/trail/seal.ts";
import { type StoreSnapshot, lineName } from "../../store/snapshot.ts";
import { type MismatchList, readFields } from "./row-check.ts";

/** A seal can name thousands of chains. */
const PAGE = 10;
const LINES_AT_ONCE = 1_000;

/** Compares the chain of seals with itself, with the lines they seal, and with anchors outside; says how many there are. */
export async function checkSeals(
  snapshot: StoreSnapshot,
  flaws: MismatchList,
  anchors: readonly Anchor[],
): Promise<number> {
  // A replaced store anchors its new seals in the same file: the lines from before must still count.
  const anchored = new Map<number, Set<string>>();
  for (const { n, hash } of anchors) anchored.set(n, (anchored.get(n) ?? new Set()).add(hash));
  let last = { n: 0, hash: "", cursor: "" };
  for (;;) {
    const page = await snapshot.listSeals(last.n, PAGE);
    if (page.length === 0) break;
    for (const kept of page) {
      const { n, hash } = kept;
      if (n !== last.n + 1 || chainHash(last.hash, kept.body) !== hash) {
        flaws.add({ is: "seal_changed", seal: n });
        return n;
      }
      const outside = [...(anchored.get(n) ?? [])];
      if (outside.some((each) => each !== hash)) flaws.add({ is: "anchor_differs", seal: n });
      const body = readSeal(kept);
      const lines = await snapshot.readFeedHashes(last.cursor, body.cursor);
      if (digestOfLines(lines) !== body.lines) flaws.add({ is: "lines_changed", seal: n });
      await checkHeads(snapshot, n, body, flaws);
      last = { n, hash, cursor: body.cursor };
    }
  }
  for (const n of anchored.keys()) if (n > last.n) flaws.add({ is: "anchor_differs", seal: n });
  if (!(await isNamedAsLast(snapshot, last))) {
    const [entry] = await snapshot.readEntries(LAST_SEAL.kind, [LAST_SEAL.id]);
    flaws.add({ is: "seals_cut", seal: last.n, last: Number((entry && readFields(entry.body)?.["n"]) ?? 0) });
  }
  return last.n;
}

/** Returns whether the entry that names the last seal is exactly as it was written. */
async function isNamedAsLast(snapshot: StoreSnapshot, { n, hash }: { n: number; hash: string }) {
  const count = (await snapshot.countRows()).entries.get(LAST_SEAL.kind) ?? 0;
  const [entry] = await snapshot.readEntries(LAST_SEAL.kind, [LAST_SEAL.id]);
  if (entry === undefined) return n === 0 && count === 0;
  // Each seal was written with one change of the entry.
  return count === 1 && entry.parent === null && entry.version === n && entry.body === JSON.stringify({ n, hash });
}

async function checkHeads(snapshot: StoreSnapshot, seal: number, { heads }: SealBody, flaws: MismatchList) {
  const all = Object.entries(heads);
  for (let start = 0; start < all.length; start += LINES_AT_ONCE) {
    const page = all.slice(start, start + LINES_AT_ONCE);
    const found = await snapshot.readLines(page.map(([runId, { n }]) => ({ runId, n })));
    for (const [id, head] of page) {
      const line = found.get(lineName(id, head.n));
      if (line?.hash !== head.hash) flaws.add({ is: "rewritten", seal, id, line: head.n });
      else if (head.number !== undefined && head.number !== line.number) {
        flaws.add({ is: "number_changed", seal, id, number: line.number, told: head.number });
      }
    }
  }
}
