import { answerArgument } from "../../view/run-text.ts";
import { access } from "node:fs/promises";
import { findAgent } from "../../../agents/registry.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { machineName } from "../../../core/run/machine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { outcomeLines } from "../inspect/show-view.ts";
import { waitForRunChange } from "./run-follow.ts";
import { lostWorkerLook } from "../../lost-worker.ts";
import { RunLog } from "./run-log.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../find-target.ts";

const flags = {
  follow: { type: "boolean", short: "f", about: "Follow the run until it ends, across all stops" },
  raw: { type: "boolean", about: "The exact output of the agent" },
  err: { type: "boolean", about: "Show its stderr" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "logs <run> [-f] [--raw] [--err]",
  flags,
  isLong: ({ flags: { follow, raw } }) => !follow && !raw,
  isLooking: () => true,
  examples: ["askd logs 42", "askd logs 42 -f", "askd logs 42 --raw > output.ndjson"],
  async run(args, context) {
    const signal = args.flags.follow ? context.interrupt() : undefined;
    const engine = await context.engine({ waits: signal && { until: signal } });
    const run = await getRun(engine, requireOneArgument(args.positionals, command.usage));
    const look = lostWorkerLook(engine, context);
    await look();
    const runDir = await getRunDir(run, context);
    const { raw, err } = args.flags;
    const { output } = context.streams();
    const log = new RunLog({
      runDir,
      kind: err ? "err" : "out",
      agent: findAgent(await context.agents(), run.agent),
      style: context.style,
      write: (text) => context.stdout.write(text),
      writeRaw: raw ? (bytes) => void output.write(bytes) : undefined,
    });
    if (signal) return followLog(run, { log, runDir, engine, signal, isRaw: raw ?? false, look }, context);
    await log.end();
    if (!raw) await sayWaiting(run, engine, context);
    if (!raw) sayDoubt(run, context);
    return 0;
  },
};

/** Refuses a run whose log is on another machine: only the machine that starts the agent has it. */
async function getRunDir(run: Run, context: Context) {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const isThere = await access(runDir).then(
    () => true,
    () => false,
  );
  if (isThere) return runDir;
  const where =
    run.host === (await context.host()) ? "was not started by askd" : `runs on ${oneLine(machineName(run.host))}`;
  throw new Refusal("not_found", `There is no log of #${run.number} here: it ${where}`, {
    hint: `See the run: askd show ${run.number}`,
  });
}

async function followLog(
  run: Run,
  given: {
    log: RunLog;
    runDir: string;
    engine: Engine;
    signal: AbortSignal;
    isRaw: boolean;
    look: () => Promise<void>;
  },
  context: Context,
) {
  const { log, runDir, engine, signal, isRaw, look } = given;
  let told: QuestionId | undefined;
  for (;;) {
    const now = (await engine.findRun(run.id)) ?? run;
    const isOver = hasEnded(now) && now.worker === undefined;
    // Before the output that follows from it.
    if (told !== undefined && now.pendingId !== told) {
      if (!isRaw) await sayOutcome(told, engine, context);
      told = undefined;
    }
    await log.more();
    if (now.pendingId !== undefined && now.pendingId !== told) {
      told = now.pendingId;
      if (!isRaw) await sayWaiting(now, engine, context);
    }
    if (isOver || signal.aborted) {
      await log.end();
      if (isOver && !isRaw && !context.isQuiet) context.stderr.write(`#${now.number} is ${now.status}\n`);
      if (isOver && !isRaw) sayDoubt(now, context);
      return isOver ? 0 : EXIT_CODE.interrupted;
    }
    await waitForRunChange(runDir, signal, context);
    await look();
  }
}

/** The warning about a question that could not be read: the log itself shows only the agent's words. */
function sayDoubt({ mayHaveAsked }: Run, { stderr, isQuiet }: Context) {
  if (!isQuiet && mayHaveAsked !== undefined) stderr.write(`❓ It may have asked: ${oneLine(mayHaveAsked)}\n`);
}

/** The answer that the run goes on with, or how the question ended without one. */
async function sayOutcome(id: QuestionId, engine: Engine, { stderr, isQuiet }: Context) {
  if (isQuiet) return;
  const { question, content } = await engine.read(id);
  const lines = outcomeLines(question, content, await engine.now());
  for (const line of lines) stderr.write(`✓ ${shortId(id)}: ${line}\n`);
}

async function sayWaiting(run: Run, engine: Engine, { stderr, isQuiet, program }: Context) {
  if (isQuiet || run.pendingId === undefined) return;
  const read = await engine.read(run.pendingId);
  const id = shortId(read.question.id);
  stderr.write(
    `❓ ${oneLine(read.question.title)} (${id})\n   Answer with: ${program} answer ${answerArgument(read)} "…"\n`,
  );
}
