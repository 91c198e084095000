import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { wrongUsage } from "../../arguments.ts";
import { isWorkerRunning, writeWorkerPid, workerLockFile } from "../service/background-worker.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";

const LOOK_MS = 1_000;

const flags = {
  idle: { type: "string", value: "duration", about: "Exit after this long without work" },
} as const satisfies Flags;

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
    const idleMs = args.flags.idle === undefined ? undefined : parseDuration(args.flags.idle);
    const signal = context.interrupt();
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
        await Promise.race([context.pause(LOOK_MS), over]);
        // A stopped worker keeps the lock until it exits.
        unlock ??= await context.lock(workerLockFile(context));
        if ((engine.carried?.() ?? 0) > 0) busyAtMs = performance.now();
        if (idleMs !== undefined && performance.now() - busyAtMs > idleMs) break;
      }
    } finally {
      await takeWordBack();
      unlock?.();
    }
    return 0;
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
