import type { Question } from "../../../core/question/question.ts";
import type { Context } from "../../context.ts";
import { isServiceOff, isWorkerRunning, startService } from "../service/worker.ts";
import { oneLine } from "../../view/sanitise.ts";

/**
 * Makes sure that somebody brings the messages of a question: a server, a worker, or a worker that is started for it.
 * Where none may be started, says that nobody is told.
 */
export async function ensureDelivery(question: Question, context: Context): Promise<void> {
  if (!needsDelivery(question, context)) return;
  if (!isServiceOff(context.env)) return void (await startService(context));
  if (context.isQuiet || (await isWorkerRunning(context))) return;
  const names = [...new Set((question.deliveries ?? []).map(({ channel }) => channel))].join(", ");
  context.stderr.write(
    `Nobody is told yet (${names}): no worker or server runs here. Add --wait, or start one: ${context.program} worker\n`,
  );
}

/**
 * The same for a program that asks for an agent and may end with it. It brings the messages itself where no worker may
 * be started; a failure is reported, for the question is asked in any case.
 */
export async function ensureDeliveryAfter(question: Question, context: Context): Promise<void> {
  if (!needsDelivery(question, context) || isServiceOff(context.env)) return;
  try {
    await startService(context);
  } catch (error) {
    const why = oneLine(error instanceof Error ? error.message : String(error));
    context.stderr.write(`askd: no worker was started to tell people: ${why}\n`);
  }
}

function needsDelivery({ deliveries = [] }: Question, { place }: Context) {
  return deliveries.length > 0 && place.store.kind !== "server";
}
