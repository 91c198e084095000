import { type FileHandle, open } from "node:fs/promises";
import type { Anchor } from "../../core/trail/anchor.ts";

/** A line has about 150 bytes, so the end that is read holds the seals of more than a day. */
const TAIL_BYTES = 8 * 1024;

/** Appends seals to a file, one JSON object per line; a seal that is among its last lines is not written twice. */
export async function appendAnchors(path: string, anchors: readonly Anchor[]): Promise<void> {
  const file = await open(path, "a+");
  try {
    const found = await file.stat();
    // A pipe or a device has no end to read and nothing to keep.
    const tail = found.isFile() ? await readTail(file, found.size) : "";
    const written = new Set(tail.split("\n"));
    const lines = anchors.map((anchor) => JSON.stringify(anchor)).filter((line) => !written.has(line));
    if (lines.length === 0) return;
    // A full disk may have cut the last line off: a new seal must not become a part of it.
    const gap = tail === "" || tail.endsWith("\n") ? "" : "\n";
    await file.appendFile(`${gap}${lines.join("\n")}\n`);
    if (found.isFile()) await file.sync();
  } finally {
    await file.close();
  }
}

async function readTail(file: FileHandle, size: number) {
  const start = Math.max(0, size - TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
  return buffer.toString("utf8", 0, bytesRead);
}
