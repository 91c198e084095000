import { z } from "zod";
import type { Result, Server, ServerContext } from "@modelcontextprotocol/server";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { oneVisibleLine } from "../../core/text/foreign-text.ts";
import { QuestionId } from "../../core/id.ts";
import { type Instant, HOUR_MS, MINUTE_MS, SECOND_MS, msBetween } from "../../core/instant.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { askerOf, getOwnQuestion } from "./asker.ts";
import { TASKS_EXTENSION, type TaskHandle, type ToolCall } from "./caller.ts";
import { formRequest, mayShowForm, takeForm } from "./form.ts";
import { handOver } from "./hand-over.ts";

const TaskParams = z.looseObject({ taskId: z.string() });
const UpdateParams = TaskParams.extend({ inputResponses: z.record(z.string(), z.unknown()).optional() });

/** The sooner a question was asked, the sooner a client looks again. */
const POLL: ReadonlyArray<{ youngerThanMs: number; everyMs: number }> = [
  { youngerThanMs: MINUTE_MS, everyMs: SECOND_MS },
  { youngerThanMs: HOUR_MS, everyMs: 5 * SECOND_MS },
  { youngerThanMs: Infinity, everyMs: 30 * SECOND_MS },
];

/** A task handle goes only to a client that declared it on this request, and never into a run that we start again ourselves. */
export function mayHaveTask(call: ToolCall, run: Run | undefined): boolean {
  return call.declared.tasks && run?.giveBack !== "worker";
}

/** The question as a task that the client looks at when it likes; it is in the store before this is said. */
export async function taskHandle(call: ToolCall, read: QuestionSnapshot): Promise<TaskHandle> {
  const task = await viewTask(call, read);
  return { content: [], ...task, resultType: "task" };
}

/** Registers what a client does with its task: look, reply, cancel. The task's id is the question's. */
export function registerTasks(server: Server, callOf: (context: ServerContext) => ToolCall): void {
  const answering = async (
    context: ServerContext,
    taskId: string,
    run: (call: ToolCall, read: QuestionSnapshot) => Promise<Result>,
  ) => {
    const call = callOf(context);
    if (!call.declared.tasks) {
      const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
      throw new call.sdk.MissingRequiredClientCapabilityError({ requiredCapabilities });
    }
    try {
      return await run(call, await getOwnQuestion(call, taskId));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new call.sdk.ProtocolError(call.sdk.ProtocolErrorCode.InvalidParams, oneVisibleLine(error.message));
    }
  };
  server.setRequestHandler("tasks/get", { params: TaskParams }, ({ taskId }, context) =>
    answering(context, taskId, async (call, read) => {
      const task = await viewTask(call, read);
      if (isPending(read.question) || read.question.status === "cancelled") return task;
      return { ...task, result: { ...(await handOver(call, read)), resultType: "complete" } };
    }),
  );
  server.setRequestHandler("tasks/update", { params: UpdateParams }, ({ taskId, inputResponses }, context) =>
    answering(context, taskId, async (call, read) => {
      await takeForm(call, read, inputResponses);
      return {};
    }),
  );
  server.setRequestHandler("tasks/cancel", { params: TaskParams }, ({ taskId }, context) =>
    answering(context, taskId, async (call, read) => {
      const { owner } = await askerOf(call);
      if (isPending(read.question)) await call.deps.engine.cancel(read.question.id, { reason: "withdrawn" }, owner);
      return {};
    }),
  );
}

async function viewTask(call: ToolCall, read: QuestionSnapshot): Promise<Record<string, unknown>> {
  const { question } = read;
  const now = await call.deps.engine.now();
  const ageMs = msBetween(question.askedAt, now);
  const asksAtClient = isPending(question) && (await mayShowForm(call, read));
  return {
    taskId: QuestionId.parse(question.id),
    status: isPending(question)
      ? asksAtClient
        ? "input_required"
        : "working"
      : question.status === "cancelled"
        ? "cancelled"
        : "completed",
    ...(isPending(question) && { statusMessage: "waiting for a person" }),
    createdAt: question.askedAt,
    lastUpdatedAt: lastChange(read, now),
    ttlMs: null,
    pollIntervalMs: POLL.find(({ youngerThanMs }) => ageMs < youngerThanMs)?.everyMs ?? SECOND_MS,
    ...(asksAtClient && { inputRequests: { answer: formRequest(call, read) } }),
  };
}

function lastChange({ question }: QuestionSnapshot, now: Instant) {
  if (question.status === "answered") return question.answer.at;
  if (question.status === "timeout") return question.timedOutAt;
  if (question.status === "cancelled") return question.cancelledAt;
  return question.askedAt < now ? question.askedAt : now;
}
