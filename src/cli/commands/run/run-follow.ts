import type { Agent } from "../../../agents/agent.ts";
import { agents } from "../../../agents/agents.ts";
import { watchPath } from "../../../agents/process/file-watch.ts";
import { taskOf } from "../../../agents/runner/launch.ts";
import { findText } from "../../../agents/process/private-file.ts";
import { Reading } from "../../../agents/runner/output-state.ts";
import { type Launch, epochFile, listEpochs, runDirOf } from "../../../agents/runner/run-files.ts";
import { type Run, hasEnded, isLoggedOut } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Context } from "../../context.ts";
import { GrowingFiles } from "./growing-file.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayLogin } from "../../wording.ts";

const LOOK_MS = 250;
const EXIT_ERROR = 1;
const EXIT_TIMEOUT = 9;
const EXIT_CANCELLED = 10;
const EXIT_INTERRUPTED = 130;

/** Follows a run to its end: what its agent prints comes out here as if it had been started here. */
export async function followRun(run: Run, launch: Launch, engine: Engine, context: Context): Promise<number> {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const agent = agents[launch.agent];
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
      await sayQuestion(now, engine, context);
    }
    if (isOver) {
      if (isLoggedOut(now)) context.stderr.write(`${sayLogin(now, context.program)}\n`);
      return end(now, { runDir, agent, prints, copy }, context);
    }
    if (signal.aborted) {
      context.stderr.write(`#${run.number} goes on. Follow it with: ${context.program} logs ${run.number} -f\n`);
      return EXIT_INTERRUPTED;
    }
    await changed(runDir, signal, context);
  }
}

/** What the user's own command line would have printed. */
function printsOf(agent: Agent, run: Run, runDir: string, launch: Launch, context: Context) {
  const at = { epoch: 1, runDir, askd: context.self, liveWindowMs: context.rules.liveWindowMs, version: undefined };
  return agent.start(taskOf(run, at, launch)).prints;
}

/** Says that a run asks something, and how to answer. */
export async function sayQuestion(run: Run, engine: Engine, context: Context): Promise<void> {
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
  if (run.status === "cancelled" || run.status === "skipped") return EXIT_CANCELLED;
  if (run.reason === "input_timeout") return EXIT_TIMEOUT;
  const epoch = (await listEpochs(runDir, "exit")).at(-1);
  const code = epoch === undefined ? undefined : await findText(epochFile(runDir, epoch, "exit"));
  return code === undefined ? EXIT_ERROR : Number(code);
}

/** The agent's last words of its last start, or its whole report. */
async function lastWords(runDir: string, agent: Agent, prints: "words" | "report"): Promise<string> {
  const epoch = (await listEpochs(runDir, "out")).at(-1);
  const text = epoch === undefined ? undefined : await findText(epochFile(runDir, epoch, "out"));
  const lines = (text ?? "").split("\n");
  if (prints === "report") return `${lines.findLast((line) => line.includes('"type":"result"')) ?? ""}\n`;
  const reading = new Reading();
  for (const line of lines) reading.take(agent.read(line));
  return `${reading.lastWords}\n`;
}

/** Copies what all starts of an agent wrote, byte by byte, in their order. */
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

/** Waits until something in the run's directory may have changed, not for long. */
export async function changed(runDir: string, signal: AbortSignal, context: Pick<Context, "pause">): Promise<void> {
  let ring = (): void => undefined;
  const rung = new Promise<void>((resolve) => (ring = resolve));
  const close = watchPath(runDir, ring);
  const awake = setTimeout(ring, LOOK_MS); // where nothing can be watched, nothing else keeps this process alive
  signal.addEventListener("abort", ring, { once: true });
  await Promise.race([rung, context.pause(LOOK_MS)]);
  signal.removeEventListener("abort", ring);
  clearTimeout(awake);
  close();
}
