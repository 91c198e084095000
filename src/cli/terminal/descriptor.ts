import { fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Says whether a descriptor is a terminal; checks the file type first, which is cheap. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && isatty(descriptor);
  } catch {
    return false; // it was closed before this process started
  }
}

/** Writes a text synchronously; passes the bytes that cannot be written now to `later`. */
export function writeTo(descriptor: number, text: string, later: (rest: Buffer) => void): void {
  const bytes = Buffer.from(text, "utf8");
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EAGAIN" && code !== "EPIPE") throw error;
      return later(bytes.subarray(done)); // the stream waits until it can write, and handles a closed pipe
    }
  }
}
