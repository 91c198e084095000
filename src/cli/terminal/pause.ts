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
