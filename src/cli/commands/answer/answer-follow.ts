import { findAgent } from "../../../agents/registry.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { type Run, hasEnded, isLoggedOut } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { waitForRunChange, announceQuestion } from "../run/run-follow.ts";
import { RunLog } from "../run/run-log.ts";
import { oneLine } from "../../view/sanitise.ts";
import { readUsage } from "../../run-usage.ts";
import { sayCount, sayLogin, sayRun, sayUsage } from "../../view/run-text.ts";

/** Opens the log of a run at its end, to print what the agent does from now on. */
export async function openLog(run: Run, context: Context): Promise<RunLog> {
  const log = new RunLog({
    runDir: runDirOf(context.place.stateDir, run.id),
    kind: "out",
    agent: findAgent(await context.agents(), run.agent),
    style: context.style,
    write: (text) => {
      const words = text.replace(/^(?=.)/gm, "  ");
      if (!context.isQuiet && !context.json) context.stdout.write(words);
    },
  });
  await log.skip();
  return log;
}

/** Follows an answered run until it ends or asks again. */
export async function followAnswered(run: Run, log: RunLog, engine: Engine, context: Context): Promise<number> {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const signal = context.interrupt();
  let turns = 0;
  for (;;) {
    const now = (await engine.findRun(run.id)) ?? run;
    if ((hasEnded(now) || isLoggedOut(now)) && now.worker === undefined) return end(now, log, engine, context);
    if (await asksAgain(now, engine)) {
      await log.end();
      await announceQuestion(now, engine, context);
      return EXIT_CODE.pending;
    }
    turns = await sayTurn(run, turns, engine, context);
    await log.more();
    if (signal.aborted) {
      context.stderr.write(`#${run.number} continues. Follow it with: ${context.program} logs ${run.number} -f\n`);
      return EXIT_CODE.interrupted;
    }
    await waitForRunChange(runDir, signal, context);
  }
}

/** Prints the turn and its tokens whenever they change. */
async function sayTurn(run: Run, said: number, engine: Engine, context: Context): Promise<number> {
  const usage = (await readUsage(engine, [run])).get(run.id);
  if (!usage || usage.turns <= said || context.isQuiet || context.json) return said;
  const tokens = usage.inputTokens + usage.outputTokens;
  context.stdout.write(`  [turn ${usage.turns + 1}${tokens > 0 ? `, ${sayCount(tokens)} tokens` : ""}]\n`);
  return usage.turns;
}

/** Says whether the run waits for the next answer, parked or held. */
async function asksAgain(run: Run, engine: Engine): Promise<boolean> {
  if (run.pendingId === undefined) return false;
  if (run.worker === undefined) return true;
  const { question } = await engine.read(run.pendingId);
  return question.status === "pending" && question.hold !== undefined;
}

async function end(run: Run, log: RunLog, engine: Engine, context: Context): Promise<number> {
  await log.end();
  const used = sayUsage((await readUsage(engine, [run])).get(run.id));
  const isDone = run.status === "completed";
  if (!context.isQuiet && !context.json) {
    const said = `${isDone ? "✓" : "✗"} #${run.number} ${oneLine(run.name)} ${sayRun(run, undefined, context.now())}`;
    const login = isLoggedOut(run) ? sayLogin(run, context.program) : undefined;
    context.stdout.write(`${said}${used ? ` (${used})` : ""}\n${login === undefined ? "" : `  ${login}\n`}`);
  }
  if (isDone) return 0;
  if (run.reason === "input_timeout") return EXIT_CODE.timedOut;
  return run.status === "failed" || isLoggedOut(run) ? EXIT_CODE.error : EXIT_CODE.cancelled;
}
