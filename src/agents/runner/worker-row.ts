import { z } from "zod";
import type { WorkerId } from "../../core/id.ts";
import { Instant, SECOND_MS, msBetween } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";
import { type Identity, isAlive, isInSight, isRunning } from "../process/process-identity.ts";

const BEAT_MS = 4 * SECOND_MS;
/** A worker that was silent for so long is taken for gone, whatever its process does. */
const SILENT_MS = 12 * SECOND_MS;

const WorkerRow = z.looseObject({
  host: z.string(),
  process: z.object({ pid: z.int(), born: z.string(), boot: z.string(), space: z.string().optional() }),
  beatAt: Instant,
  /** The askd that it runs; workers of old did not say. */
  version: z.string().optional(),
});
type WorkerRow = z.infer<typeof WorkerRow>;

export interface WorkerRowDeps {
  store: Store;
  id: WorkerId;
  host: string;
  process: Identity;
  version?: string | undefined;
  onFailure(error: unknown): void;
}

/** This worker's row, which says that it is alive: the one heartbeat for all runs that it carries. */
export class Heart {
  readonly #deps: WorkerRowDeps;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: WorkerRowDeps) {
    this.#deps = deps;
  }

  /** Beats from now on; the first beat is kept when this resolves. */
  async start(): Promise<void> {
    if (this.#timer && this.#version > 0) return;
    this.#timer ??= setInterval(() => void this.#beat().catch(this.#deps.onFailure), BEAT_MS).unref();
    await this.#beat();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #beat(): Promise<void> {
    const { store, id, host, process, version } = this.#deps;
    const body = { host, process, ...(version !== undefined && { version }), beatAt: await store.now() };
    const committed = await store.commit({ entries: [{ kind: "worker", id, version: this.#version, body }] });
    if (committed.ok) {
      this.#version += 1;
      return;
    }
    // A beat whose commit was cut off may have been kept, and two may meet.
    this.#version = (await store.findEntry("worker", id))?.version ?? 0;
    if (committed.why !== "moved") throw new Error(`The row of worker ${id} was not kept: ${committed.why}`);
  }
}

/**
 * Says whether a worker of this machine can no longer be relied on: its process is gone, or it has been silent. Of one
 * in another container, whose processes cannot be seen from here, only its silence says so.
 */
export async function isWorkerGone(store: Store, id: WorkerId): Promise<boolean> {
  const entry = await store.findEntry("worker", id);
  const row = WorkerRow.safeParse(entry?.body);
  if (!row.success || isSilent(row.data, await store.now())) return true;
  return (await isInSight(row.data.process)) && !(await isAlive(row.data.process));
}

/** The workers of that host that have not been silent for long. */
export async function listWorkers(store: Pick<Store, "listEntries" | "now">, host: string): Promise<WorkerRow[]> {
  const now = await store.now();
  const rows = (await store.listEntries("worker")).map(({ body }) => WorkerRow.safeParse(body));
  return rows.flatMap(({ data }) => (data && data.host === host && !isSilent(data, now) ? [data] : []));
}

/**
 * Says whether somebody on that host starts agents: a worker that beats, whose process may go on. Who has the lock of
 * the store says nothing: a process that was stopped keeps it.
 */
export async function hasLivingWorker(store: Pick<Store, "listEntries" | "now">, host: string): Promise<boolean> {
  for (const { process } of await listWorkers(store, host)) if (await isRunning(process)) return true;
  return false;
}

/** A beat from the future was written by a clock that was put back since; a worker that lives beats again soon. */
function isSilent({ beatAt }: WorkerRow, now: Instant): boolean {
  return Math.abs(msBetween(beatAt, now)) > SILENT_MS;
}
