import { formatDuration } from "../../../core/text/duration.ts";
import { SECOND_MS, msBetween } from "../../../core/instant.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Context } from "../../context.ts";
import { sayAge } from "../../view/relative-time.ts";

const LINE_START = "\r\x1b[K";

/** Prints that the command waits for a person: on a terminal with a bell and a counter, else once. Returns a function that ends it. */
export function sayWaiting(holdMs: number, context: Context): () => void {
  const { stderr, isQuiet, env } = context;
  if (isQuiet) return () => undefined;
  const isLive = stderr.isTty && env["TERM"] !== "dumb" && !env["ASKD_ACCESSIBLE"];
  stderr.write(bellFor(context));
  if (!isLive) {
    stderr.write(`waiting for a person, at most ${formatDuration(holdMs)}\n`);
    return () => undefined;
  }
  const ended = new AbortController();
  void count(ended.signal, context);
  return () => {
    ended.abort();
    stderr.write("\n");
  };
}

/** Updates the counter until aborted. */
async function count(signal: AbortSignal, { stderr, now, pause }: Context): Promise<void> {
  const start = now();
  while (!signal.aborted) {
    stderr.write(`${LINE_START}waiting for a person, ${sayAge(msBetween(start, now()))}`);
    await pause(SECOND_MS);
  }
}
