import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { MINUTE_MS, SECOND_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import type { Context } from "../../context.ts";
import { Interrupted } from "../../terminal/interrupted.ts";
import { oneLine } from "../../view/sanitise.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { isServiceOff } from "../service/worker.ts";

const NAME = "init-test";
const LOOK_MS = 50;
const PATIENCE_MS = MINUTE_MS;
const MOST_TRIES = 5;

/** The test question of init. */
const TEST_QUESTION = "Is this the right terminal?";
const TEST_OPTIONS = ["Yes", "No"] as const;

const flags = {} as const satisfies Flags;

/** Says what answers here: the server that runs, or the worker that every run starts. */
export async function sayService(context: Context): Promise<void> {
  const { stdout, style, program, isQuiet } = context;
  if (isQuiet) return;
  const address = await context.findServer();
  if (address !== undefined) return stdout.write(`${style.green("✓")} The server answers at ${address}\n`);
  if (isServiceOff(context.env)) {
    return stdout.write(`${style.yellow("!")} Nothing goes on in the background here. Start: ${program} worker\n`);
  }
  stdout.write(
    `${style.green("✓")} Nothing to start: a run starts its own worker, which ends when idle. ` +
      `At every sign-in: ${program} service install\n`,
  );
}

/** How to send a test question where nobody can be asked now. */
export function sayHowToTest({ stdout, program, isQuiet }: Context): true {
  if (!isQuiet) stdout.write(`Test it: ${program} ask "Ready?" -o Yes -o No, then ${program} answer - 1\n`);
  return true;
}

/** A run asks and is parked, the person answers here, and the run goes on. */
export async function askTest(context: Context): Promise<boolean> {
  const { stdout, stderr, style, program } = context;
  if (context.place.store.kind === "server") return sayHowToTest(context);
  const isHere = isServiceOff(context.env);
  const engine = await context.engine({ runs: isHere });
  const number = await startRun(context);
  if (isHere) void engine.work();
  const asked = await waitFor(engine, number, (run) => run.status === "awaiting_input");
  if (asked?.pendingId === undefined) {
    stderr.write(`${style.red("✗")} The test run did not ask. Look at it: ${program} logs ${number} --err\n`);
    return false;
  }
  const startedMs = performance.now();
  const signal = context.interrupt();
  const answered = await askPerson(await engine.read(asked.pendingId), engine, signal, context);
  if (!answered) {
    await engine.cancel(asked.pendingId, { reason: "the test was left" }, await whoTypes(engine, context));
    stdout.write("No answer: the test question is withdrawn. The agents are wired.\n");
    if (signal.aborted) throw new Interrupted();
    return true;
  }
  const seconds = Math.max(1, Math.round((performance.now() - startedMs) / SECOND_MS));
  if (!isHere) await afterChange(answered, engine, context);
  const ended = await waitFor(engine, number, hasEnded);
  if (ended?.status === "completed") {
    stdout.write(`${style.green("✓")} Answered in ${seconds}s. The test run resumed.\n`);
    return true;
  }
  const state = ended ? `ended as ${ended.status}` : "did not go on";
  stderr.write(`${style.red("✗")} Answered, but the test run ${state}. Look at it: ${program} logs ${number} --err\n`);
  return false;
}

/** Started like any other run, by a command of its own; its folder is ours, so that the project stays as it is. */
async function startRun({ self, runChild, place }: Context) {
  const { store, stateDir } = place;
  const where = ["--store", store.kind === "sqlite" ? `sqlite:${store.file}` : store.url, "-C", stateDir];
  const argv = [...self, ...where, "run", "--quiet", "--name", NAME, "--", ...self, "test-agent"];
  const lines: string[] = [];
  const { exitCode, stdout } = await runChild({ argv, stdio: "pipe", onLine: (line) => lines.push(line) });
  if (exitCode === 0) return Number(stdout.trim());
  throw new Refusal("store_unusable", `The test run could not be started: ${oneLine(lines.join(" "))}`, {
    hint: "The agents are wired all the same. See: askd status",
  });
}

/** Shows the question until an answer fits it. */
async function askPerson(read: QuestionSnapshot, engine: Engine, signal: AbortSignal, context: Context) {
  const { stdout, stderr, style } = context;
  const options = TEST_OPTIONS.map((label, index) => `${index + 1} ${label}`).join("   ");
  stdout.write(`${style.cyan("?")} Test question: ${TEST_QUESTION}\n    ${options}\n`);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    stderr.write("  > ");
    const typed = await context.stdin.readLine(signal);
    if (typed === undefined) return undefined;
    try {
      const input = AnswerInput.parse({ answer: typed.trim() });
      return await engine.answer(read.question.id, input, await whoTypes(engine, context));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      stderr.write(`    ${oneLine(error.message)}\n`);
    }
  }
  return undefined;
}

async function waitFor(engine: Engine, number: number, isSo: (run: Run) => boolean) {
  const endMs = performance.now() + PATIENCE_MS;
  while (performance.now() < endMs) {
    const [run] = (await engine.lookUp({ by: "number", number }, 1)).runs;
    if (run && isSo(run)) return run;
    if (run && hasEnded(run)) return undefined;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS)); // nothing else may keep this process alive
  }
  return undefined;
}

export const command: Command<typeof flags> = {
  usage: "test-agent",
  flags,
  run: (_args, context) => ask(context),
};

/** An agent as small as can be: it asks by a marker and ends, and says what it was told when it is started again. */
async function ask({ env, stdout, readFile }: Context) {
  const file = env["ASKD_ANSWER_FILE"];
  if (file === undefined) {
    const asked = JSON.stringify({ question: TEST_QUESTION, options: TEST_OPTIONS });
    stdout.write(`I ask and end.\n<<ASK_HUMAN>> ${asked} <</ASK_HUMAN>>\n`);
    return 0;
  }
  const told = await readFile(file);
  stdout.write(`I was started again and told:\n${told}\n`);
  return 0;
}
