import type { Context } from "../context.ts";

/** Waits that long, or until the signal aborts. Nothing else need keep the process alive meanwhile. */
export async function pauseFor(ms: number, signal: AbortSignal, context: Pick<Context, "pause">): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  // A single timer could end just before the pause does, and the process with it.
  const awake = setInterval(() => undefined, ms);
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([context.pause(ms), stopped]);
  signal.removeEventListener("abort", stop);
  clearInterval(awake);
}
