import type { Seal } from "../core/changes.ts";
import { HOUR_MS, type Instant, later } from "../core/instant.ts";
import type { Job } from "../core/job.ts";
import { LAST_SEAL, lastSealEntry, readSeal, seal } from "../core/seal.ts";
import type { Store } from "../store/store.ts";
import type { Decider } from "./decide.ts";
import type { Handler } from "./worker.ts";

const SEAL_EVERY_MS = HOUR_MS;
const SEALED_AT_ONCE = 5_000;

/** Tells somebody outside the store of a seal. It may be called twice for the same one. */
export type AnchorTarget = (seal: Seal) => Promise<void>;

/** Has the trail sealed from now on, if nobody has arranged for it yet: at once where it never was. */
export async function scheduleSeals(store: Store, decider: Decider): Promise<void> {
  const arranged = await store.nextJobAt({ kinds: ["seal"], host: "", agents: [] });
  if (arranged !== undefined) return;
  const isSealed = (await findLastSeal(store)) !== undefined;
  const dueAt = later(await store.now(), isSealed ? SEAL_EVERY_MS : 0);
  const job: Job = { key: "seal", kind: "seal", dueAt, tries: 0 };
  await decider.commit({ scheduled: [job] });
}

/** Seals what came since the last time, and anchors the last seal outside where that is configured. */
export function sealJob(anchor?: AnchorTarget): Handler {
  return async (job, { store, decider, now }) => {
    const sealed = await sealTrail(store, now);
    // After a failure the last seal may not be anchored yet, though it is not new.
    if (anchor && sealed && (sealed.isNew || job.tries > 0)) await anchor(sealed.seal);
    await decider.commit({ postponed: [{ job, dueAt: later(now, SEAL_EVERY_MS), tries: 0 }] });
  };
}

/** Seals all that is not sealed yet; returns the last seal, undefined where nothing has ever happened. */
export async function sealTrail(store: Store, now: Instant): Promise<{ seal: Seal; isNew: boolean } | undefined> {
  let last = await findLastSeal(store);
  let isNew = false;
  for (;;) {
    const events = await store.readFeed(last ? readSeal(last).cursor : "", SEALED_AT_ONCE);
    if (events.length === 0) break;
    const runs = await store.readRuns([...new Set(events.map(({ event }) => event.runId))]);
    const numbers = new Map(runs.map(({ id, number }) => [id as string, number]));
    const next = seal(last, events, { at: now, numbers });
    const entry = await store.findEntry(LAST_SEAL.kind, LAST_SEAL.id);
    const committed = await store.commit({ seals: [next], entries: [lastSealEntry(next, entry?.version ?? 0)] });
    // Another process sealed at the same moment: go on with what that one left.
    last = committed.ok ? next : await findLastSeal(store);
    if (!committed.ok && committed.why === "newer_schema") break;
    isNew = true;
    // The end as it was: where others write all the time, there would always be more.
    if (committed.ok && events.length < SEALED_AT_ONCE) break;
  }
  return last && { seal: last, isNew };
}

async function findLastSeal(store: Store): Promise<Seal | undefined> {
  const entry = await store.findEntry(LAST_SEAL.kind, LAST_SEAL.id);
  const n = Number(entry?.body["n"] ?? 0);
  const [last] = n > 0 ? await store.listSeals(n - 1, 1) : [];
  return last;
}
