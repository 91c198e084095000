import type { Agent } from "../../../agents/agent.ts";
import { findAgent } from "../../../agents/registry.ts";
import { watchPath } from "../../../agents/process/file-watch.ts";
import { taskOf } from "../../../agents/runner/launch.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { OutputState } from "../../../agents/runner/output-state.ts";
import { type Launch, epochFile, listEpochs, runDirOf, startDirOf } from "../../../agents/runner/run-files.ts";
import { type Run, hasEnded, isLoggedOut } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { answerArgument, sayCount, sayLogin, sayMayHaveAsked, sayRun, sayUsage } from "../../view/run-text.ts";
import { countTokens } from "../../../core/run/usage.ts";
import { readUsage } from "../../run-usage.ts";
import { GrowingFiles, RunLog } from "./run-log.ts";

const LOOK_MS = 250;

/** Follows a run to its end and prints the agent's output as if it had been started here. */
export async function followRun(run: Run, launch: Launch, engine: Engine, context: Context): Promise<number> {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const agent = findAgent(await context.agents(), launch.agent);
  const prints = agent ? printsOf(agent, run, runDir, launch, context) : "lines";
  const copy = new Copy(runDir, context);
  const signal = context.interrupt();
  let told = "";
  for (;;) {
    const now = (await engine.findRun(run.id)) ?? run;
    const isOver = (hasEnded(now) || isLoggedOut(now)) && now.worker === undefined;
    if (prints === "lines") await copy.more();
    if (now.pendingId !== undefined && now.pendingId !== told) {
      told = now.pendingId;
      await announceQuestion(now, engine, context);
    }
    if (isOver) {
      if (isLoggedOut(now)) context.stderr.write(`${sayLogin(now, context.program)}\n`);
      return end(now, { runDir, agent, prints, copy }, context);
    }
    if (signal.aborted) {
      context.stderr.write(`#${run.number} continues. Follow it with: ${context.program} logs ${run.number} -f\n`);
      return EXIT_CODE.interrupted;
    }
    await waitForRunChange(runDir, signal, context);
  }
}

/** The kind of output that the user's own command line prints. */
function printsOf(agent: Agent, run: Run, runDir: string, launch: Launch, context: Context) {
  const at = {
    epoch: 1,
    startDir: startDirOf(runDir, 1),
    askd: context.self,
    liveWindowMs: context.rules.liveWindowMs,
    version: undefined,
  };
  return agent.start(taskOf(run, at, launch)).prints;
}

/** Prints the run's question and the command to answer it. */
async function announceQuestion(run: Run, engine: Engine, context: Context): Promise<void> {
  const { stderr, isQuiet, program } = context;
  if (isQuiet || run.pendingId === undefined) return;
  const read = await engine.read(run.pendingId);
  const { question } = read;
  stderr.write(
    `${bellFor(context, question.title)}❓ Task ${run.externalId ?? run.number} needs human input\n   Question: ${oneLine(question.title)}\n` +
      `   Answer with: ${program} answer ${answerArgument(read)} "…"\n`,
  );
}

interface Ending {
  runDir: string;
  agent: Agent | undefined;
  prints: "lines" | "words" | "report";
  copy: Copy;
}

async function end(run: Run, { runDir, agent, prints, copy }: Ending, context: Context) {
  if (prints === "lines") await copy.more();
  else if (agent) context.stdout.write(await lastWords(runDir, agent, prints));
  await copy.complaints();
  if (run.status === "cancelled" || run.status === "skipped") return EXIT_CODE.cancelled;
  if (run.reason === "input_timeout") return EXIT_CODE.timedOut;
  const doubt = sayMayHaveAsked(run, context.program);
  if (doubt !== undefined) {
    context.stderr.write(`❓ ${doubt}\n`);
    return EXIT_CODE.mayHaveAsked;
  }
  const epoch = (await listEpochs(runDir, "exit")).at(-1);
  const code = epoch === undefined ? undefined : await findFileText(epochFile(runDir, epoch, "exit"));
  return code === undefined ? EXIT_CODE.error : Number(code);
}

/** The agent's final message of its last start, or its whole report. */
async function lastWords(runDir: string, agent: Agent, prints: "words" | "report") {
  const epoch = (await listEpochs(runDir, "out")).at(-1);
  const text = epoch === undefined ? undefined : await findFileText(epochFile(runDir, epoch, "out"));
  const lines = (text ?? "").split("\n");
  if (prints === "report") return `${lines.findLast((line) => line.includes('"type":"result"')) ?? ""}\n`;
  const reading = new OutputState();
  for (const line of lines) reading.take(agent.read(line));
  return `${reading.lastWords}\n`;
}

/** Copies the output of all starts of an agent, byte by byte and in order. */
class Copy {
  readonly #runDir: string;
  readonly #context: Context;
  readonly #files = new GrowingFiles();

  constructor(runDir: string, context: Context) {
    this.#runDir = runDir;
    this.#context = context;
  }

  async more(): Promise<void> {
    const { output } = this.#context.streams();
    for (const epoch of await listEpochs(this.#runDir, "out")) {
      await this.#files.read(epochFile(this.#runDir, epoch, "out"), (bytes) => void output.write(bytes));
      await this.#files.read(epochFile(this.#runDir, epoch, "err"), (bytes) => this.#complain(bytes));
    }
  }

  async complaints(): Promise<void> {
    for (const epoch of await listEpochs(this.#runDir, "err")) {
      await this.#files.read(epochFile(this.#runDir, epoch, "err"), (bytes) => this.#complain(bytes));
    }
  }

  #complain(bytes: Buffer) {
    this.#context.stderr.write(bytes.toString("utf8"));
  }
}

/** Waits briefly until something in the run's directory may have changed. */
export async function waitForRunChange(
  runDir: string,
  signal: AbortSignal,
  context: Pick<Context, "pause">,
): Promise<void> {
  let ring = (): void => undefined;
  const rung = new Promise<void>((resolve) => (ring = resolve));
  const close = watchPath(runDir, ring);
  const awake = setTimeout(ring, LOOK_MS); // keeps the process alive if the directory cannot be watched
  signal.addEventListener("abort", ring, { once: true });
  await Promise.race([rung, context.pause(LOOK_MS)]);
  signal.removeEventListener("abort", ring);
  clearTimeout(awake);
  close();
}

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
    if ((hasEnded(now) || isLoggedOut(now)) && now.worker === undefined) return reportEnd(now, log, engine, context);
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
async function sayTurn(run: Run, said: number, engine: Engine, context: Context) {
  const usage = (await readUsage(engine, [run])).get(run.id);
  if (usage?.turns === undefined || usage.turns <= said || context.isQuiet || context.json) return said;
  const tokens = countTokens(usage);
  context.stdout.write(`  [turn ${usage.turns + 1}${tokens > 0 ? `, ${sayCount(tokens)} tokens` : ""}]\n`);
  return usage.turns;
}

/** Says whether the run waits for the next answer, parked or held. */
async function asksAgain(run: Run, engine: Engine) {
  if (run.pendingId === undefined) return false;
  if (run.worker === undefined) return true;
  const { question } = await engine.read(run.pendingId);
  return question.status === "pending" && question.hold !== undefined;
}

async function reportEnd(run: Run, log: RunLog, engine: Engine, context: Context) {
  await log.end();
  const used = sayUsage((await readUsage(engine, [run])).get(run.id));
  const isDone = run.status === "completed";
  const doubt = sayMayHaveAsked(run, context.program);
  if (!context.isQuiet && !context.json) {
    const mark = doubt === undefined ? (isDone ? "✓" : "✗") : "?";
    const said = `${mark} #${run.number} ${oneLine(run.name)} ${sayRun(run, undefined, context.now())}`;
    const next = isLoggedOut(run) ? sayLogin(run, context.program) : doubt;
    context.stdout.write(`${said}${used ? ` (${used})` : ""}\n${next === undefined ? "" : `  ${next}\n`}`);
  }
  if (doubt !== undefined) return EXIT_CODE.mayHaveAsked;
  if (isDone) return 0;
  if (run.reason === "input_timeout") return EXIT_CODE.timedOut;
  return run.status === "failed" || isLoggedOut(run) ? EXIT_CODE.error : EXIT_CODE.cancelled;
}
