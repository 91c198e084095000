import { SECOND_MS, msBetween } from "../core/instant.ts";
import { needsMachine } from "../core/run/machine.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Context } from "./context.ts";

const MOST_LOOKED_AT = 100;
/** A worker that was started for a run may take this long to its first heartbeat. */
const STARTING_MS = 10 * SECOND_MS;

/** Starts a worker where runs of this machine wait for one that is gone, and says so: nothing else would notice. */
export async function replaceLostWorker(engine: Engine, context: Context): Promise<void> {
  if (context.place.store.kind === "server") return;
  const statuses = ["queued", "resuming", "running"] as const;
  const runs = await engine.listRuns({ statuses, order: "newest", limit: MOST_LOOKED_AT });
  const needing = runs.filter(needsMachine);
  const host = needing.length > 0 ? await context.host() : undefined;
  const ours = needing.filter((run) => run.host === host);
  if (ours.length === 0) return;
  const left = await listLeft(ours, engine);
  if (left.length === 0) return;
  // Loaded on use: most commands find no run that was left alone.
  const { isServiceOff, isWorkerRunning, startService } = await import("./commands/service/worker.ts");
  if (await isWorkerRunning(context)) return;
  const who = left.length === 1 ? `#${left[0]?.number}` : `${left.length} runs`;
  const isOff = isServiceOff(context.env);
  if (!isOff) await startService(context);
  if (context.isQuiet) return;
  context.stderr.write(
    isOff
      ? `No worker runs on this machine, and ${who} cannot go on without one. Start it with: ${context.program} worker\n`
      : `The worker of ${who} was gone; started a new one.\n`,
  );
}

/** The runs that nothing happened to for a while: what happened just now may have started a worker. */
async function listLeft(runs: readonly Run[], engine: Engine): Promise<Run[]> {
  const now = await engine.now();
  const left = await Promise.all(
    runs.map(async (run) => {
      const last = (await engine.readChain(run.id)).at(-1)?.event.at ?? run.createdAt;
      return msBetween(last, now) >= STARTING_MS ? [run] : [];
    }),
  );
  return left.flat();
}
