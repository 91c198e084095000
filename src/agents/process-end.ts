import { watchPath } from "./process/file-watch.ts";
import { findAgent, type Found } from "./process/process.ts";

/** How often we look whether an agent is there: one that was killed together with its wrapper writes nothing. */
const LOOK_MS = 500;

/** How an agent is not alive. */
export type Ended = Exclude<Found, { state: "alive" }>;

/** Waits until an epoch's agent is gone, whoever started it, and says how it ended; undefined when told to stop. */
export async function waitForEnd(runDir: string, epoch: number, stop?: AbortSignal): Promise<Ended | undefined> {
  let ring = (): void => undefined;
  const wake = (): void => ring();
  const close = watchPath(runDir, wake);
  stop?.addEventListener("abort", wake);
  try {
    while (!stop?.aborted) {
      const rung = new Promise<void>((resolve) => (ring = resolve));
      const found = await findAgent(runDir, epoch);
      if (found.state !== "alive") return found;
      const timer = setTimeout(wake, LOOK_MS);
      if (!stop?.aborted) await rung;
      clearTimeout(timer);
    }
    return undefined;
  } finally {
    close();
    stop?.removeEventListener("abort", wake);
  }
}
