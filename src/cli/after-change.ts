import { mirrorRun, ofEngine } from "../agents/runner/state-mirror.ts";
import type { RunId } from "../core/id.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import { isServiceOff, isWorkerHere, startService } from "./commands/service/background-worker.ts";
import type { Context } from "./context.ts";
import { oneLine } from "./view/sanitise.ts";

/** What a command that changed a run leaves in order: its mirror, and somebody who takes the run up. */
export async function afterChange(run: Run, engine: Engine, context: Context): Promise<void> {
  if (!(await isOurs(run, context))) return;
  await mirrorHere(run.id, engine, context);
  if (!needsWorker(run)) return;
  if (!isServiceOff(context.env)) return void (await startService(context));
  if (context.isQuiet || (await isWorkerHere(context))) return;
  const what = run.status === "resuming" ? "Resume it with" : "End its processes with";
  context.stderr.write(`${what}: ${context.program} worker\n`);
}

/** Writes the run's `state.json`; that this fails is worth a line, and no more. */
export async function mirrorHere(id: RunId, engine: Engine, context: Context): Promise<void> {
  await mirrorRun(ofEngine(engine), id).catch((error: unknown) => {
    if (context.isQuiet) return;
    context.stderr.write(`state.json was not written: ${oneLine(error instanceof Error ? error.message : "")}\n`);
  });
}

/** Says whether the run belongs to this machine, and its store is at hand. */
export async function isOurs(run: Run, { host, place }: Pick<Context, "host" | "place">): Promise<boolean> {
  return run.giveBack === "worker" && place.store.kind !== "server" && run.host === (await host());
}

/** It is to be started again, or processes of it are to be ended. */
function needsWorker(run: Run): boolean {
  return run.status === "resuming" || (run.status === "cancelled" && run.worker !== undefined);
}
