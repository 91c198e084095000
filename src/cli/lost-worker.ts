import { type Instant, SECOND_MS, msBetween } from "../core/instant.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import { findAwayMachine, needsMachine } from "../core/run/machine.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Context } from "./context.ts";
import { workerPidFile } from "./paths.ts";
import { machinesFor, sayAway } from "./view/machine-view.ts";

const PAGE = 100;
/** A worker that was started for a run may take this long to its first heartbeat. */
const STARTING_MS = 10 * SECOND_MS;
const NEEDING = { statuses: ["queued", "resuming", "running"], order: "newest", limit: PAGE } as const;
const PENDING = { status: "pending", order: "oldest", limit: PAGE } as const;

/** Starts a worker where something waits for one that is gone, and says so: nothing else would notice. */
export async function replaceLostWorker(engine: Engine, context: Context): Promise<void> {
  const said = await lookForWorker(engine, context);
  if (said !== undefined && !context.isQuiet) context.stderr.write(said);
}

/** The same for a command that stays: looks again after a while, and says the same thing once. */
export function lostWorkerLook(engine: Engine, context: Context): () => Promise<void> {
  let lookedAt: Instant | undefined;
  let told: string | undefined;
  return async () => {
    const now = context.now();
    if (lookedAt !== undefined && msBetween(lookedAt, now) < STARTING_MS) return;
    lookedAt = now;
    const said = await lookForWorker(engine, context);
    if (said !== undefined && said !== told && !context.isQuiet) context.stderr.write(said);
    told = said;
  };
}

/** Starts a worker in place of one that is gone, and returns the words for it. */
async function lookForWorker(engine: Engine, context: Context): Promise<string | undefined> {
  const { store } = context.place;
  if (store.kind === "server") return findSilentMachine(engine, context);
  if (store.isReadOnly) return undefined;
  const left = (await findLeftRuns(engine, context)) ?? (await findUnheard(engine, context));
  if (left === undefined) return undefined;
  // Loaded on use: most commands find nothing that was left alone.
  const { isServiceOff, isWorkerRunning, startService } = await import("./commands/service/worker.ts");
  if (await isWorkerRunning(context)) return undefined;
  if (!isServiceOff(context.env)) {
    await startService(context);
    return `${left.was}; started a new one.\n`;
  }
  return `No worker runs on this machine, and ${left.without}. Start it with: ${context.program} worker\n`;
}

/** Words for something that waits for a worker: what became of that, and what is so without one. */
interface LeftAlone {
  was: string;
  without: string;
}

/** A run whose machine the server has not heard of for a while; a worker can only be started there. */
async function findSilentMachine(engine: Engine, context: Context): Promise<string | undefined> {
  for await (const page of pagesOf((after?: RunId) => engine.listRuns({ ...NEEDING, after }))) {
    const machines = await machinesFor(engine, page, context);
    for (const run of page) {
      const away = findAwayMachine(run, machines);
      if (away === undefined) continue;
      return `#${run.number} ${sayAway(away, machines.now)}. Run there: ${context.program} worker\n`;
    }
  }
  return undefined;
}

async function findLeftRuns(engine: Engine, context: Context): Promise<LeftAlone | undefined> {
  for await (const page of pagesOf((after?: RunId) => engine.listRuns({ ...NEEDING, after }), context)) {
    const needing = page.filter(needsMachine);
    const host = needing.length > 0 ? await context.host() : undefined;
    const left = await listLeft(
      needing.filter((run) => run.host === host),
      engine,
      context,
    );
    if (left.length === 0) continue;
    const who = left.length === 1 ? `#${left[0]?.number}` : `${left.length} runs`;
    return { was: `The worker of ${who} was gone`, without: `${who} cannot go on without one` };
  }
  return undefined;
}

/** People were told of a question in a channel: somebody has to read what they reply. */
async function findUnheard(engine: Engine, context: Context): Promise<LeftAlone | undefined> {
  if (context.rules.reach.length === 0) return undefined;
  const now = await engine.now();
  for await (const page of pagesOf((after?: QuestionId) => engine.listQuestions({ ...PENDING, after }), context)) {
    const isUnheard = page.some(
      ({ deliveries = [], askedAt }) => deliveries.length > 0 && msBetween(askedAt, now) >= STARTING_MS,
    );
    if (isUnheard)
      return { was: "The worker that reads replies was gone", without: "nobody sends messages or reads replies" };
  }
  return undefined;
}

/** All rows, page by page; on this machine only the first page while a worker runs, so that looking stays fast. */
async function* pagesOf<Id, Row extends { id: Id }>(
  readPage: (after?: Id) => Promise<Row[]>,
  context?: Context,
): AsyncGenerator<Row[]> {
  let page = await readPage();
  yield page;
  if (page.length < PAGE || (context && (await hasWorker(context)))) return;
  while (page.length === PAGE) {
    page = await readPage(page.at(-1)?.id);
    yield page;
  }
}

async function wasKilled(context: Context) {
  // Loaded on use: a worker that ended by itself, or that never ran, has no such file.
  if (!(await hasFile(workerPidFile(context), context))) return false;
  const { wasWorkerKilled } = await import("./commands/service/worker.ts");
  return wasWorkerKilled(context);
}

function hasFile(path: string, context: Context): Promise<boolean> {
  return context.readFile(path).then(
    () => true,
    () => false,
  );
}

async function hasWorker(context: Context) {
  const { isWorkerRunning } = await import("./commands/service/worker.ts");
  return isWorkerRunning(context);
}

/** The runs that nothing happened to for a while: what happened just now may have started a worker. A killed one is gone. */
async function listLeft(runs: readonly Run[], engine: Engine, context: Context): Promise<readonly Run[]> {
  if (runs.length === 0 || (await wasKilled(context))) return runs;
  const now = await engine.now();
  const left = await Promise.all(
    runs.map(async (run) => {
      const last = (await engine.readChain(run.id)).at(-1)?.event.at ?? run.createdAt;
      return msBetween(last, now) >= STARTING_MS ? [run] : [];
    }),
  );
  return left.flat();
}
