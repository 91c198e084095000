import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 40;
const PAUSE_MS = 250;

/**
 * Removes a folder in which programs that have just been told to end may still write. What they add while it is removed
 * is removed by the next try; Node's own retries only try the last folder again.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (tried === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
