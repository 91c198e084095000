import type { Seal } from "../../core/changes.ts";
import type { Instant } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";

/** A seal can name thousands of chains. */
const PAGE = 10;

/** A place outside the store that every seal is written to. Writing the same seal twice must do no harm. */
export interface AnchorTarget {
  id: "file" | "url";
  /** Names the address without telling it; a new address starts with the last seal. */
  digest: string;
  write(seals: readonly Seal[], now: Instant): Promise<void>;
}

/** Writes to every target the seals that it does not have yet. A target that fails does not keep the others waiting. */
export async function anchorAll(targets: readonly AnchorTarget[], at: AnchorDeps): Promise<void> {
  const results = await Promise.allSettled(targets.map((target) => anchorTo(target, at)));
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (reasons.length === 0) return;
  throw new Error(reasons.map(sayReason).join("; "), { cause: reasons[0] });
}

interface AnchorDeps {
  store: Store;
  last: Seal;
  now: Instant;
}

/** An entry of the store keeps how far the target has come: seals are also made where no target is configured. */
async function anchorTo(target: AnchorTarget, { store, last, now }: AnchorDeps) {
  const entry = await store.findEntry("anchor", target.id);
  const anchored = entry?.body["digest"] === target.digest ? Number(entry.body["n"]) : undefined;
  let version = entry?.version ?? 0;
  // The last seal covers all before it, so a new target starts there, and so does one that is ahead of the store.
  let n = anchored === undefined || anchored > last.n ? last.n - 1 : anchored;
  while (n < last.n) {
    const page = await store.listSeals(n, PAGE);
    const written = page.at(-1);
    if (written === undefined) return;
    await target.write(page, now);
    n = written.n;
    const body = { n, digest: target.digest };
    const committed = await store.commit({ entries: [{ kind: "anchor", id: target.id, version, body }] });
    if (!committed.ok) return; // another process writes the same seals at this moment
    version += 1;
  }
}

function sayReason(reason: unknown) {
  return reason instanceof Error ? reason.message : String(reason);
}
