import { open } from "node:fs/promises";
import type { Anchor } from "../core/anchor.ts";

/** A line has about 150 bytes, so the end that is read holds the seals of more than a day. */
const TAIL_BYTES = 8 * 1024;

/** Appends seals to a file, one JSON object per line; a seal that is among its last lines is not written twice. */
export async function appendAnchors(file: string, anchors: readonly Anchor[]): Promise<void> {
  const handle = await open(file, "a+");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const tail = buffer.toString("utf8", 0, bytesRead);
    const written = new Set(tail.split("\n"));
    const lines = anchors.map((anchor) => JSON.stringify(anchor)).filter((line) => !written.has(line));
    if (lines.length === 0) return;
    // A full disk may have cut the last line off: a new seal must not become a part of it.
    const gap = tail === "" || tail.endsWith("\n") ? "" : "\n";
    await handle.appendFile(`${gap}${lines.join("\n")}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
