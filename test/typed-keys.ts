import { PassThrough } from "node:stream";
import { type Key, listenForKeys } from "../src/cli/terminal/keyboard.ts";

/** The keys in text that a terminal sends, in one or several reads. */
export function typedKeys(...reads: Array<string | Uint8Array>): Key[] {
  const keys: Key[] = [];
  const input = new PassThrough();
  const stop = listenForKeys(input, (key) => keys.push(key));
  for (const read of reads) input.emit("data", Buffer.from(read)); // a write would arrive only later
  stop();
  return keys;
}
