import type { Read } from "../../../core/changes.ts";
import { sayDuration } from "../../../core/text/duration.ts";
import { type Instant, later } from "../../../core/instant.ts";
import type { Run } from "../../../core/run/run.ts";
import type { DemoStage } from "./demo-stage.ts";
import { renderQuestion } from "./demo-view.ts";
import { LEAVING_KEYS, readKey } from "../../terminal/keyboard.ts";
import { quoted } from "../../wording.ts";

const EXIT_INTERRUPTED = 130;

/** How long there is to answer, and what ends the waiting before that. */
export interface Waiting {
  patienceMs: number;
  signal: AbortSignal;
}

/** Has the run's question answered: by what a script gave, by a key here, or elsewhere. Gives an exit code to end with. */
export async function bringAnswer(
  stage: DemoStage,
  run: Run,
  given: string | undefined,
  waiting: Waiting,
): Promise<number | undefined> {
  if (run.pendingId === undefined) return undefined;
  const { stdout, style, program, mayPrompt } = stage.context;
  const read = await stage.engine.read(run.pendingId);
  const elsewhere = `ASKD_HOME=${stage.dir} ${program} answer ${run.number} 1`;
  const isHere = mayPrompt && given === undefined;
  stdout.write(renderQuestion(read, { keys: isHere ? keysOf(read) : [], elsewhere }, style));
  if (given !== undefined) return answer(stage, read, given);
  if (isHere) return awaitKey(stage, read, waiting);
  const after = "if nobody answers, what the agent declared applies";
  stdout.write(`Waiting ${sayDuration(waiting.patienceMs)}; ${after}.\n\n`);
  await stage.engine.wait(read.question.id, { until: await endOf(stage, waiting), signal: waiting.signal });
  return undefined;
}

/** Waits for a key that is an answer, while somebody elsewhere may be quicker. */
async function awaitKey(stage: DemoStage, read: Read, waiting: Waiting): Promise<number | undefined> {
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
      if (key === undefined || key === "q" || LEAVING_KEYS.includes(key)) return EXIT_INTERRUPTED;
      if (keys.includes(key)) return await answer(stage, read, key);
      stdout.write(`Press ${keys.join(" or ")}, or q to leave.\n`);
    }
  } finally {
    over.abort();
    await watching;
  }
}

/** Answers the way that a person does, by a command of its own. */
async function answer(stage: DemoStage, { run }: Read, text: string): Promise<number | undefined> {
  const { stdout, style, program } = stage.context;
  stdout.write(`${style.dim("$")} ${program} answer ${run.number} ${quoted(text)}\n`);
  const done = await stage.type(["answer", String(run.number), "--", text], (line) => stdout.write(`${line}\n`));
  stdout.write(`${done.stdout}\n`);
  return done.exitCode === 0 ? undefined : done.exitCode;
}

function keysOf({ content }: Read): string[] {
  return content.items[0]?.options.map((_, index) => String(index + 1)) ?? [];
}

/** A moment after the question's own deadline has been dealt with. */
async function endOf({ engine }: DemoStage, { patienceMs }: Waiting): Promise<Instant> {
  return later(await engine.now(), 2 * patienceMs + 60_000);
}
