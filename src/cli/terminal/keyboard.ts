import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";

/** What Ctrl-C and Ctrl-D send while the terminal passes on every key as it is. */
export const LEAVING_KEYS: readonly string[] = ["\x03", "\x04"];

/** The next key that a person presses, at once and unseen; undefined when the input ends or waiting is aborted. */
export function readKey(input: Readable, signal: AbortSignal): Promise<string | undefined> {
  const terminal = input instanceof ReadStream ? input : undefined;
  return new Promise((resolve) => {
    const leave = (key: string | undefined): void => {
      input.off("data", take).off("end", abort).pause();
      signal.removeEventListener("abort", abort);
      terminal?.setRawMode(false);
      resolve(key);
    };
    // More than one key at once is a paste or the code of a special key; its beginning tells which.
    const take = (bytes: Buffer): void => leave(bytes.toString("utf8").slice(0, 1));
    const abort = (): void => leave(undefined);
    if (signal.aborted) return resolve(undefined);
    terminal?.setRawMode(true);
    signal.addEventListener("abort", abort, { once: true });
    input.on("data", take).on("end", abort).resume();
  });
}
