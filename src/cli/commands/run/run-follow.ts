import type { Agent } from "../../../agents/agent.ts";
import { findAgent } from "../../../agents/registry.ts";
import { watchPath } from "../../../agents/process/file-watch.ts";
import { taskOf } from "../../../agents/runner/launch.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { OutputState } from "../../../agents/runner/output-state.ts";
import { type Launch, epochFile, listEpochs, runDirOf } from "../../../agents/runner/run-files.ts";
import { type Run, hasEnded, isLoggedOut } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Context } from "../../context.ts";
import { GrowingFiles } from "./run-log.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayLogin } from "../../view/run-text.ts";

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
  const at = { epoch: 1, runDir, askd: context.self, liveWindowMs: context.rules.liveWindowMs, version: undefined };
  return agent.start(taskOf(run, at, launch)).prints;
}

/** Prints the run's question and the command to answer it. */
export async function announceQuestion(run: Run, engine: Engine, context: Context): Promise<void> {
  const { stderr, isQuiet, program } = context;
  if (isQuiet || run.pendingId === undefined) return;
  const { question } = await engine.read(run.pendingId);
  stderr.write(
    `${bellFor(context)}❓ Task ${run.externalId ?? run.number} needs human input\n   Question: ${oneLine(question.title)}\n` +
      `   Answer with: ${program} answer ${run.number} "…"\n`,
  );
}

interface Ending {
  runDir: string;
  agent: Agent | undefined;
  prints: "lines" | "words" | "report";
  copy: Copy;
}

async function end(run: Run, { runDir, agent, prints, copy }: Ending, context: Context): Promise<number> {
  if (prints === "lines") await copy.more();
  else if (agent) context.stdout.write(await lastWords(runDir, agent, prints));
  await copy.complaints();
  if (run.status === "cancelled" || run.status === "skipped") return EXIT_CODE.cancelled;
  if (run.reason === "input_timeout") return EXIT_CODE.timedOut;
  const epoch = (await listEpochs(runDir, "exit")).at(-1);
  const code = epoch === undefined ? undefined : await findFileText(epochFile(runDir, epoch, "exit"));
  return code === undefined ? EXIT_CODE.error : Number(code);
}

/** The agent's final message of its last start, or its whole report. */
async function lastWords(runDir: string, agent: Agent, prints: "words" | "report"): Promise<string> {
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

  #complain(bytes: Buffer): void {
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
