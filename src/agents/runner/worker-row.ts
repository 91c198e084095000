import { z } from "zod";
import type { WorkerId } from "../../core/id.ts";
import { Instant, SECOND_MS, msBetween } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";
import { type ProcessIdentity, isProcessAlive, isVisibleHere, isProcessRunning } from "../process/process-identity.ts";

const BEAT_MS = 4 * SECOND_MS;
/** A worker silent for this long counts as gone, whatever its process does. */
const SILENT_MS = 12 * SECOND_MS;

const WorkerRow = z.looseObject({
  host: z.string(),
  process: z.object({ pid: z.int(), born: z.string(), boot: z.string(), space: z.string().optional() }),
  beatAt: Instant,
  /** The version of askd; older workers lack it. */
  version: z.string().optional(),
});
type WorkerRow = z.infer<typeof WorkerRow>;

export interface WorkerRowDeps {
  store: Store;
  id: WorkerId;
  host: string;
  process: ProcessIdentity;
  version?: string | undefined;
  onFailure(error: unknown): void;
  /** Called after each beat. */
  onBeat?(now: Instant): void;
}

/** The heartbeat of this worker: one row for all runs it owns. */
export class Heartbeat {
  readonly #deps: WorkerRowDeps;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(deps: WorkerRowDeps) {
    this.#deps = deps;
  }

  /** Starts the heartbeat; the first beat is stored when this resolves. */
  async start(): Promise<void> {
    if (this.#timer && this.#version > 0) return;
    this.#timer ??= setInterval(() => void this.#beat().catch(this.#deps.onFailure), BEAT_MS).unref();
    await this.#beat();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Two beats at once would write the same row: the second waits for the first. */
  #beat(): Promise<void> {
    this.#beating ??= this.#storeBeat().finally(() => (this.#beating = undefined));
    return this.#beating;
  }

  async #storeBeat(): Promise<void> {
    const { store, id, host, process, version } = this.#deps;
    const beatAt = await store.now();
    const body = { host, process, version, beatAt };
    const committed = await store.commit({ entries: [{ kind: "worker", id, version: this.#version, body }] });
    if (committed.ok) {
      this.#version += 1;
      this.#deps.onBeat?.(beatAt);
      return;
    }
    // A beat with a lost reply may have been stored.
    this.#version = (await store.findEntry("worker", id))?.version ?? 0;
    if (this.#version === 0) throw new Error(`The row of worker ${id} was not kept: ${committed.why}`);
  }
}

/**
 * Says whether a worker of this machine is gone: its process has ended, or it has been silent. For one in another
 * container, whose processes are invisible here, only silence counts.
 */
export async function isWorkerGone(store: Store, id: WorkerId): Promise<boolean> {
  const entry = await store.findEntry("worker", id);
  const row = WorkerRow.safeParse(entry?.body);
  if (!row.success || isSilent(row.data, await store.now())) return true;
  return (await isVisibleHere(row.data.process)) && !(await isProcessAlive(row.data.process));
}

/** The workers of that host with a recent heartbeat. */
export async function listLiveWorkers(store: Pick<Store, "listEntries" | "now">, host: string): Promise<WorkerRow[]> {
  const now = await store.now();
  const rows = (await store.listEntries("worker")).map(({ body }) => WorkerRow.safeParse(body));
  return rows.flatMap(({ data }) => (data && data.host === host && !isSilent(data, now) ? [data] : []));
}

/**
 * Says whether a live worker on that host starts agents: one with a heartbeat and a running process. The lock of the
 * store proves nothing: a stopped process keeps it.
 */
export async function hasLivingWorker(store: Pick<Store, "listEntries" | "now">, host: string): Promise<boolean> {
  for (const { process } of await listLiveWorkers(store, host)) if (await isProcessRunning(process)) return true;
  return false;
}

/** A beat from the future was written before the clock was set back; a live worker beats again soon. */
function isSilent({ beatAt }: WorkerRow, now: Instant): boolean {
  return Math.abs(msBetween(beatAt, now)) > SILENT_MS;
}
