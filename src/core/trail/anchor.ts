import { z } from "zod";
import type { Seal } from "../changes.ts";
import { Instant } from "../instant.ts";
import { Refusal } from "../refusal.ts";
import { readSeal } from "./seal.ts";

/** One line of an anchor file: a seal as published outside the store. */
export const Anchor = z.object({ kind: z.literal("askd.seal"), n: z.int().positive(), hash: z.string(), at: Instant });
export type Anchor = z.infer<typeof Anchor>;

/** The anchor line of a seal, kept where a writer of the store cannot change it. */
export function anchorOf(seal: Seal): Anchor {
  return { kind: "askd.seal", n: seal.n, hash: seal.hash, at: Instant.parse(readSeal(seal).at) };
}

/** Parses an anchor file: one JSON object per line, without lines of other programs. */
export function parseAnchors(text: string, file: string): Anchor[] {
  const lines = text.split("\n").map((line) => line.trim());
  const anchors = lines.flatMap((line, index) => (line === "" ? [] : [parseLine(line, index + 1, file)]));
  if (anchors.length > 0) return anchors;
  throw new Refusal("bad_input", `${file} has no seals in it`, {
    hint: `Write the first one with: askd audit --seal-to ${file}`,
  });
}

function parseLine(line: string, number: number, file: string): Anchor {
  const parsed = Anchor.safeParse(readJson(line));
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `Line ${number} of ${file} is not a seal that askd wrote`, {
    hint: "Compare with a file that only askd wrote: askd audit --seal-to <file>",
  });
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // refused by the caller
  }
}
