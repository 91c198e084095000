import { mirrorRun, engineMirrorSource } from "../agents/runner/state-mirror.ts";
import type { RunId } from "../core/id.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import { isServiceOff, isWorkerRunning, startService } from "./commands/service/worker.ts";
import type { Context } from "./context.ts";
import { oneLine } from "./view/sanitise.ts";

/** Updates the run's `state.json` after a change, and makes sure that a worker resumes the run. */
export async function afterChange(run: Run, engine: Engine, context: Context): Promise<void> {
  if (!(await isOurs(run, context))) return;
  await mirrorHere(run.id, engine, context);
  if (!needsWorker(run)) return;
  if (!isServiceOff(context.env)) return void (await startService(context));
  if (context.isQuiet || (await isWorkerRunning(context))) return;
  const what = run.status === "resuming" ? "Resume it with" : "Stop its processes with";
  context.stderr.write(`${what}: ${context.program} worker\n`);
}

/** Writes the run's `state.json`; a failure is reported and does not fail the command. */
export async function mirrorHere(id: RunId, engine: Engine, context: Context): Promise<void> {
  await mirrorRun(engineMirrorSource(engine), id).catch((error: unknown) => {
    if (context.isQuiet) return;
    context.stderr.write(`state.json was not written: ${oneLine(error instanceof Error ? error.message : "")}\n`);
  });
}

/** Says whether this machine runs the agent and can open its store. */
export async function isOurs(run: Run, { host, place }: Pick<Context, "host" | "place">): Promise<boolean> {
  return run.giveBack === "worker" && place.store.kind !== "server" && run.host === (await host());
}

/** The run is to be resumed, or its processes are to be stopped. */
function needsWorker(run: Run) {
  return run.status === "resuming" || (run.status === "cancelled" && run.worker !== undefined);
}
