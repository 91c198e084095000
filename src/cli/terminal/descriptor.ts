import { fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Says whether a terminal is behind a descriptor; only of a device is that asked. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && isatty(descriptor);
  } catch {
    return false; // it was closed before we were started
  }
}

/** Writes a text at once; what cannot be taken now is given to `later`. A reader that went away ends the program. */
export function writeTo(descriptor: number, text: string, later: (rest: Buffer) => void): void {
  const bytes = Buffer.from(text, "utf8");
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EAGAIN" && code !== "EPIPE") throw error;
      return later(bytes.subarray(done)); // the stream waits for room, and knows what a reader that left means
    }
  }
}
