import type { Engine } from "../../engine/engine.ts";
import type { Context } from "../context.ts";

/** Waits for this time, or until the signal aborts, and keeps the process alive. */
export async function pauseFor(ms: number, signal: AbortSignal, context: Pick<Context, "pause">): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  // A single timer could fire just before the pause ends, and the process would exit.
  const awake = setInterval(() => undefined, ms);
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([context.pause(ms), stopped]);
  signal.removeEventListener("abort", stop);
  clearInterval(awake);
}

/** Runs due jobs until `goOn` is done; returns its result, or throws if the jobs fail. */
export async function whileWorking<Result>(engine: Engine, goOn: () => Promise<Result>): Promise<Result> {
  const failed = engine.work().then(() => new Promise<never>(() => undefined)); // it ends only when stopped
  return Promise.race([goOn(), failed]);
}
