import type { Read } from "../core/changes.ts";
import type { Run } from "../core/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { printResult } from "./output.ts";
import { type StatusView, renderShortStatus, renderStatus } from "./status-view.ts";
import { readUsage } from "./usage.ts";
import { startOfDay } from "./when.ts";

const MOST_SHOWN = 100;
const EXIT_WAITING = 8;

const flags = {
  short: { type: "boolean", about: "One line for prompts and status bars" },
  "exit-code": { type: "boolean", about: `Exit with ${EXIT_WAITING} while something waits` },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "status [--short]",
  flags,
  fields: ["waiting", "running", "queued", "failed", "completed"],
  async run(args, context) {
    const view = await readStatus(await context.engine(), context);
    const { viewStatus } = context.json ? await import("./status-json.ts") : { viewStatus: () => ({}) };
    printResult(context, command.fields ?? [], {
      page: () => (args.flags.short ? renderShortStatus(view) : renderStatus(view, context.style)),
      json: () => viewStatus(view),
    });
    return args.flags["exit-code"] && view.waiting.length > 0 ? EXIT_WAITING : 0;
  },
};

async function readStatus(engine: Engine, context: Context): Promise<StatusView> {
  const now = await engine.now();
  const today = startOfDay(now, context.ahead);
  const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_SHOWN });
  const waiting = await Promise.all(pending.map((question) => engine.read(question.id)));
  const held = new Set(waiting.map(({ run }) => run.id));
  const list = (statuses: ReadonlyArray<Run["status"]>, more: object = {}): Promise<Run[]> =>
    engine.listRuns({ statuses, order: "newest", limit: MOST_SHOWN, ...more });
  const running = (await list(["running", "resuming"])).filter((run) => !held.has(run.id));
  const failed = await list(["failed", "skipped"], { endedSince: today });
  const completed = await list(["completed"], { endedSince: today });
  const queued = await list(["queued", "blocked"]);
  const isEmpty = [waiting, running, failed, completed, queued].every((found) => found.length === 0);
  return {
    now,
    waiting,
    running,
    queued,
    failed: await Promise.all(failed.map(async (run) => ({ run, last: await readLast(engine, run) }))),
    completed,
    usage: await readUsage(engine, [...running, ...queued, ...failed, ...completed]),
    isFirstUse: isEmpty && (await engine.listRuns({ order: "newest", limit: 1 })).length === 0,
  };
}

function readLast(engine: Engine, run: Run): Promise<Read> | undefined {
  return run.lastQuestionId && engine.read(run.lastQuestionId);
}
