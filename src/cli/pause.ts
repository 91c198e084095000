import type { Context } from "./context.ts";

/** Waits that long, or until the signal aborts. Nothing else need keep the process alive meanwhile. */
export async function pauseFor(ms: number, signal: AbortSignal, context: Pick<Context, "pause">): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const awake = setTimeout(() => undefined, ms);
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([context.pause(ms), stopped]);
  signal.removeEventListener("abort", stop);
  clearTimeout(awake);
}
