import type { Seal } from "../../core/changes.ts";
import { HOUR_MS, type Instant, MINUTE_MS, later } from "../../core/instant.ts";
import type { Job } from "../../core/run/job.ts";
import { LAST_SEAL, lastSealEntry, readSeal, seal } from "../../core/trail/seal.ts";
import type { Store } from "../../store/store.ts";
import { type AnchorTarget, anchorAll } from "./anchor-target.ts";
import type { Decider } from "../decide.ts";
import type { Handler } from "./worker.ts";

const SEAL_EVERY_MS = HOUR_MS;
/** The first event is sealed with its commit, and its seal is anchored soon after. */
const UNTIL_FIRST_MS = MINUTE_MS;
const SEALED_AT_ONCE = 5_000;

/** Finds the targets that are configured; nothing of them is loaded before a seal is due. */
export type FindAnchorTargets = () => Promise<readonly AnchorTarget[]>;

/** Schedules the seal job if there is none; it is due at once if the trail was never sealed. */
export async function scheduleSeals(store: Store, decider: Decider): Promise<void> {
  const arranged = await store.nextJobAt({ kinds: ["seal"], host: "", agents: [] });
  if (arranged !== undefined) return;
  const isSealed = (await findLastSeal(store)) !== undefined;
  const dueAt = later(await store.now(), isSealed ? SEAL_EVERY_MS : 0);
  const job: Job = { key: "seal", kind: "seal", dueAt, tries: 0 };
  await decider.commit({ scheduled: [job] });
}

/** Seals new events, and writes every seal to the targets outside the store that are configured. */
export function sealJob(findTargets?: FindAnchorTargets): Handler {
  return async (job, { store, decider, now }) => {
    const last = await sealTrail(store, now);
    // Sealing comes first: a target that fails is retried with the backoff of this job, and each try seals too.
    if (last && findTargets) await anchorAll(await findTargets(), { store, last, now });
    const delayMs = last ? SEAL_EVERY_MS : UNTIL_FIRST_MS;
    await decider.commit({ postponed: [{ job, dueAt: later(now, delayMs), tries: 0 }] });
  };
}

/** Seals everything up to now that is not sealed yet; returns the last seal, undefined where nothing has ever happened. */
export async function sealTrail(store: Store, now: Instant): Promise<Seal | undefined> {
  let last = await findLastSeal(store);
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
    // The end as it was: where others write all the time, there would always be more.
    if (committed.ok && events.length < SEALED_AT_ONCE) break;
  }
  return last;
}

/** The last seal of the trail, if it was ever sealed. */
export async function findLastSeal(store: Store): Promise<Seal | undefined> {
  const entry = await store.findEntry(LAST_SEAL.kind, LAST_SEAL.id);
  const n = Number(entry?.body["n"] ?? 0);
  const [last] = n > 0 ? await store.listSeals(n - 1, 1) : [];
  return last;
}
