import { join } from "node:path";
import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { workerLockFile, workerPidFile } from "../../paths.ts";
import { pauseFor } from "../../terminal/pause.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { requireOutsideRun } from "../store/direct-store.ts";
import type { Flags } from "../../flags.ts";
import { backgroundEnv } from "./background-env.ts";

/** How often, and how many times, to look for the heartbeat of a worker that is starting. */
const HEARTBEAT_LOOK_MS = 250;
const HEARTBEAT_LOOKS = 4;
const NEVER = new AbortController().signal;
const IDLE_LOOK_MS = 1_000;
/** How long a server or worker may take to stop, whatever its store does; supervisors wait about 10 s. */
export const STOP_MS = 9_000;
const MOST_LOOKED_AT = 100;

const flags = {
  idle: { type: "string", value: "duration", about: "Exit after this long without work" },
} as const satisfies Flags;

/** Says whether background processes are forbidden; then the waiting command runs the worker itself. */
export function isServiceOff(env: Context["env"]): boolean {
  return Boolean(env["CI"]) || Boolean(env["ASKD_NO_SERVICE"]);
}

/** Makes sure that a worker runs on this machine; starts one if there is none. */
export async function startService(context: Context): Promise<"running" | "started"> {
  if (isServiceOff(context.env) || (await isWorkerRunning(context))) return "running";
  const { store } = context.place;
  const where = store.kind === "sqlite" ? `sqlite:${store.file}` : store.url;
  await context.detach({
    argv: [...context.self, "--store", where, "worker", "--idle", "5m"],
    env: backgroundEnv(context),
    log: join(context.place.stateDir, "worker.log"),
  });
  return "started";
}

/**
 * Says whether a worker of this store runs on this machine, by its heartbeat in the store. A worker with the lock but
 * without a heartbeat is starting, so this waits for it; if none comes, it is stopped or hangs and does not count.
 */
export async function isWorkerRunning(context: Context): Promise<boolean> {
  const host = await context.host();
  const { listWorkerRows, now } = await workersOf(context);
  const { hasLivingWorker } = await import("../../../agents/runner/worker-row.ts");
  for (let looks = 1; ; looks += 1) {
    if (await hasLivingWorker({ listEntries: listWorkerRows, now }, host)) return true;
    if (looks > HEARTBEAT_LOOKS || !(await context.isLocked(workerLockFile(context)))) return false;
    await pauseFor(HEARTBEAT_LOOK_MS, NEVER, context);
  }
}

async function workersOf(context: Context) {
  const engine = await context.engine({ isReading: true });
  return {
    listWorkerRows: async () => (await engine.listWorkerRows?.()) ?? [], // a server runs the jobs of its own store
    now: () => engine.now(),
  };
}

/** The process id of the background worker of this store, from its pid file. */
export async function findWorkerPid(context: Context): Promise<number | undefined> {
  const text = await context.readFile(workerPidFile(context)).catch(() => undefined); // a server is the worker, or an older askd
  const { findIdentity } = await import("../../../agents/process/process-identity.ts");
  const [pid = "", ...born] = text?.trim().split(" ") ?? [];
  const found = /^[1-9]\d*$/.test(pid) ? await findIdentity(Number(pid)) : undefined;
  return found?.born === born.join(" ") ? found.pid : undefined;
}

/** Says whether the last worker of this store on this machine was killed: one that ends by itself removes its pid file. */
export async function wasWorkerKilled(context: Context): Promise<boolean> {
  const isThere = await context.readFile(workerPidFile(context)).then(
    () => true,
    () => false,
  );
  return isThere && (await findWorkerPid(context)) === undefined;
}

/** Writes the pid file of this worker, for `askd service stop`. Returns a function that removes it. */
async function writeWorkerPid(context: Context) {
  const file = workerPidFile(context);
  const { findIdentity } = await import("../../../agents/process/process-identity.ts");
  const { replacePrivateFile } = await import("../../../agents/process/private-file.ts");
  const word = `${context.pid} ${(await findIdentity(context.pid))?.born ?? ""}\n`;
  await replacePrivateFile(file, word);
  return async () => {
    // Another worker may have written it meanwhile.
    const found = await context.readFile(file).catch(() => undefined); // it is already gone
    if (found === word) await context.removeFile(file);
  };
}

export const command: Command<typeof flags> = {
  usage: "worker [--idle 5m]",
  flags,
  isForAllProjects: true,
  examples: ["askd worker"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("worker takes no arguments", command.usage);
    const { store } = context.place;
    if (store.kind === "server") {
      throw new Refusal("bad_input", `${store.source} names a server; a worker needs the store itself`, {
        hint: "Name the store with --store",
      });
    }
    await requireOutsideRun(context);
    const idleMs = args.flags.idle === undefined ? undefined : parseDuration(args.flags.idle);
    const signal = context.interrupt([], STOP_MS);
    const engine = await context.engine({ runs: true, isReading: true });
    let unlock = await context.lock(workerLockFile(context));
    if (!unlock && (await isWorkerRunning(context))) {
      if (!context.isQuiet) context.stderr.write("A worker of this store is already running; this one exits.\n");
      return 0;
    }
    const takeWordBack = await writeWorkerPid(context);
    if (!context.isQuiet) context.stderr.write("Working. Stop with Ctrl-C; agents continue.\n");
    const over = Promise.race([aborted(signal), engine.work()]);
    try {
      let busyAtMs = performance.now();
      while (!signal.aborted) {
        await Promise.race([context.pause(IDLE_LOOK_MS), over]);
        // A stopped worker keeps the lock until it exits.
        unlock ??= await context.lock(workerLockFile(context));
        if ((engine.carried?.() ?? 0) > 0) busyAtMs = performance.now();
        if (idleMs === undefined || performance.now() - busyAtMs <= idleMs) continue;
        if (!(await hasRunLater(engine, context)) && !(await hasOpenMessage(engine))) break;
        busyAtMs = performance.now();
      }
    } finally {
      await takeWordBack();
      unlock?.();
    }
    return 0;
  },
};

/** Says whether a run of this machine goes on later by itself: nobody else would start it then. */
async function hasRunLater(engine: Engine, context: Context) {
  const runs = await engine.listRuns({ statuses: ["resuming"], order: "newest", limit: MOST_LOOKED_AT });
  const host = await context.host();
  return runs.some((run) => run.resumesAt !== undefined && run.host === host);
}

/** Says whether people were told of a question that waits: their replies have to be listened for. */
export async function hasOpenMessage(engine: Engine) {
  for (let after: QuestionId | undefined; ;) {
    const page = await engine.listQuestions({
      status: "pending",
      order: "newest",
      limit: MOST_LOOKED_AT,
      ...(after !== undefined && { after }),
    });
    if (page.some(({ deliveries = [] }) => deliveries.length > 0)) return true;
    after = page.at(-1)?.id;
    if (after === undefined || page.length < MOST_LOOKED_AT) return false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
