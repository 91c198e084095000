import { SECOND_MS, msBetween } from "../core/instant.ts";
import { needsMachine } from "../core/run/machine.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Context } from "./context.ts";

const MOST_LOOKED_AT = 100;
/** A worker that was started for a run may take this long to its first heartbeat. */
const STARTING_MS = 10 * SECOND_MS;

/** Starts a worker where something waits for one that is gone, and says so: nothing else would notice. */
export async function replaceLostWorker(engine: Engine, context: Context): Promise<void> {
  if (context.place.store.kind === "server") return;
  const left = (await findLeftRuns(engine, context)) ?? (await findUnheard(engine, context));
  if (left === undefined) return;
  // Loaded on use: most commands find nothing that was left alone.
  const { isServiceOff, isWorkerRunning, startService } = await import("./commands/service/worker.ts");
  if (await isWorkerRunning(context)) return;
  const isOff = isServiceOff(context.env);
  if (!isOff) await startService(context);
  if (context.isQuiet) return;
  context.stderr.write(
    isOff
      ? `No worker runs on this machine, and ${left.without}. Start it with: ${context.program} worker\n`
      : `${left.was}; started a new one.\n`,
  );
}

/** Words for something that waits for a worker: what became of that, and what is so without one. */
interface LeftAlone {
  was: string;
  without: string;
}

async function findLeftRuns(engine: Engine, context: Context): Promise<LeftAlone | undefined> {
  const statuses = ["queued", "resuming", "running"] as const;
  const runs = await engine.listRuns({ statuses, order: "newest", limit: MOST_LOOKED_AT });
  const needing = runs.filter(needsMachine);
  const host = needing.length > 0 ? await context.host() : undefined;
  const left = await listLeft(
    needing.filter((run) => run.host === host),
    engine,
  );
  if (left.length === 0) return undefined;
  const who = left.length === 1 ? `#${left[0]?.number}` : `${left.length} runs`;
  return { was: `The worker of ${who} was gone`, without: `${who} cannot go on without one` };
}

/** People were told of a question in a channel: somebody has to read what they reply. */
async function findUnheard(engine: Engine, { rules }: Context): Promise<LeftAlone | undefined> {
  if (rules.reach.length === 0) return undefined;
  const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_LOOKED_AT });
  const now = await engine.now();
  const isUnheard = pending.some(
    ({ deliveries = [], askedAt }) => deliveries.length > 0 && msBetween(askedAt, now) >= STARTING_MS,
  );
  if (!isUnheard) return undefined;
  return { was: "The worker that reads replies was gone", without: "nobody sends messages or reads replies" };
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
