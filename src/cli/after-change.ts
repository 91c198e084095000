import { mirrorRun, engineMirrorSource } from "../agents/runner/state-mirror.ts";
import type { RunId } from "../core/id.ts";
import type { Question } from "../core/question/question.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import { isServiceOff, isWorkerRunning, startService } from "./commands/service/worker.ts";
import type { Context } from "./context.ts";
import { oneLine } from "./view/sanitise.ts";

/** A changed question with its run, or a changed run alone. */
export interface Changed {
  run: Run;
  question?: Question;
}

/**
 * Updates the run's `state.json` after a change, and makes sure that a worker resumes the run and brings the messages
 * that people have in line.
 */
export async function afterChange(changed: Changed, engine: Engine, context: Context): Promise<void> {
  const { run } = changed;
  const isHere = await isOurs(run, context);
  if (isHere) await mirrorHere(run.id, engine, context);
  const todo = isHere && needsWorker(run) ? sayRunTodo(run) : await findMessageTodo(changed, engine, context);
  if (todo === undefined) return;
  if (!isServiceOff(context.env)) return void (await startService(context));
  if (context.isQuiet || (await isWorkerRunning(context))) return;
  context.stderr.write(`${todo}: ${context.program} worker\n`);
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

function sayRunTodo({ status }: Run) {
  return status === "resuming" ? "Resume it with" : "Stop its processes with";
}

/** Names the channels in which people have a message about the question, or the last question of the run. */
async function findMessageTodo({ run, question }: Changed, engine: Engine, { rules, place }: Context) {
  if (rules.reach.length === 0 || place.store.kind === "server") return undefined;
  const [last] = question ? [question] : await engine.listQuestions({ runId: run.id, order: "newest", limit: 1 });
  const names = [...new Set((last?.deliveries ?? []).map(({ channel }) => channel))];
  if (names.length === 0) return undefined;
  return `No worker or server runs here to update the messages (${names.join(", ")}). Start one`;
}

/** The run is to be resumed, or its processes are to be stopped. */
function needsWorker(run: Run) {
  return run.status === "resuming" || (run.status === "cancelled" && run.worker !== undefined);
}
