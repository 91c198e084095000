import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { type Instant, later } from "../../../core/instant.ts";
import type { Run } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { DemoStage } from "./demo-stage.ts";
import { renderDemoQuestion } from "./demo-view.ts";
import { type Key, readKey } from "../../terminal/keyboard.ts";
import { quoted } from "../../view/run-text.ts";

/** How long to wait for the answer, and the signal that ends the wait. */
export interface DemoQuestion {
  patienceMs: number;
  signal: AbortSignal;
}

/** Gets the question answered: by --answer, by a key here, or elsewhere. Returns an exit code if the demo ends here. */
export async function bringAnswer(
  stage: DemoStage,
  run: Run,
  given: string | undefined,
  waiting: DemoQuestion,
): Promise<number | undefined> {
  if (run.pendingId === undefined) return undefined;
  const { stdout, style, program, mayPrompt } = stage.context;
  const read = await stage.engine.read(run.pendingId);
  const elsewhere = `ASKD_HOME=${stage.dir} ${program} answer ${run.number} 1`;
  const isHere = mayPrompt && given === undefined;
  stdout.write(renderDemoQuestion(read, { keys: isHere ? keysOf(read) : [], elsewhere }, style));
  if (given !== undefined) return answer(stage, read, given);
  if (isHere) return awaitKey(stage, read, waiting);
  const after = "if nobody answers, the agent's default applies";
  stdout.write(`Waiting ${formatDuration(waiting.patienceMs)}; ${after}.\n\n`);
  await stage.engine.wait(read.question.id, { until: await endOf(stage, waiting), signal: waiting.signal });
  return undefined;
}

/** Waits for a key that answers, or for an answer from elsewhere. */
async function awaitKey(stage: DemoStage, read: QuestionSnapshot, waiting: DemoQuestion): Promise<number | undefined> {
  const { stdout, streams } = stage.context;
  const over = new AbortController();
  const signal = AbortSignal.any([waiting.signal, over.signal]);
  const closed = stage.engine.wait(read.question.id, { until: await endOf(stage, waiting), signal });
  const watching = closed.then(() => over.abort());
  const keys = keysOf(read);
  try {
    for (;;) {
      const key = await readKey(streams().input, signal);
      if (signal.aborted) return undefined;
      if (key === undefined || isLeaving(key)) return EXIT_CODE.interrupted;
      if (key.name === "character" && keys.includes(key.text)) return await answer(stage, read, key.text);
      stdout.write(`Press ${keys.join(" or ")}, or q to quit.\n`);
    }
  } finally {
    over.abort();
    await watching;
  }
}

function isLeaving(key: Key): boolean {
  if (key.name === "character") return key.text === "q";
  return key.name === "interrupt" || key.name === "end-of-input";
}

/** Answers as a person does, with a command in its own process. */
async function answer(stage: DemoStage, { run }: QuestionSnapshot, text: string): Promise<number | undefined> {
  const { stdout, style, program } = stage.context;
  stdout.write(`${style.dim("$")} ${program} answer ${run.number} ${quoted(text)}\n`);
  const done = await stage.type(["answer", String(run.number), "--", text], (line) => stdout.write(`${line}\n`));
  stdout.write(`${done.stdout}\n`);
  return done.exitCode === 0 ? undefined : done.exitCode;
}

function keysOf({ content }: QuestionSnapshot): string[] {
  return content.items[0]?.options.map((_, index) => String(index + 1)) ?? [];
}

/** A time after the question's own deadline has been handled. */
async function endOf({ engine }: DemoStage, { patienceMs }: DemoQuestion): Promise<Instant> {
  return later(await engine.now(), 2 * patienceMs + 60_000);
}
