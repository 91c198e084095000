import type { Question } from "../../../core/question/question.ts";
import type { Context } from "../../context.ts";
import { isServiceOff, isWorkerRunning, startService } from "../service/worker.ts";

/**
 * Makes sure that somebody brings the messages of a question: a server, a worker, or a worker that is started for it.
 * Where none may be started, says that nobody is told.
 */
export async function ensureDelivery({ deliveries = [] }: Question, context: Context): Promise<void> {
  if (deliveries.length === 0 || context.place.store.kind === "server") return;
  if (!isServiceOff(context.env)) return void (await startService(context));
  if (context.isQuiet || (await isWorkerRunning(context))) return;
  const names = [...new Set(deliveries.map(({ channel }) => channel))].join(", ");
  context.stderr.write(
    `Nobody is told yet (${names}): no worker or server runs here. Add --wait, or start one: ${context.program} worker\n`,
  );
}
