import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RunId } from "../../../src/core/id.ts";

const Line = z.looseObject({
  is: z.string(),
  at: z.number(),
  run: RunId,
  pid: z.int(),
  start: z.int(),
  epoch: z.int(),
  tag: z.string().optional(),
  /** What it was told: through what, in which words, and what the file of the answer said. */
  via: z.string().optional(),
  text: z.string().default(""),
  file: z.string().optional(),
  exit: z.union([z.int(), z.string()]).optional(),
  code: z.int().optional(),
  stderr: z.string().default(""),
  alive: z.array(z.int()).default([]),
});
export type Line = z.infer<typeof Line>;

/** One start of an agent, by its own account. */
export interface Start {
  epoch: number;
  pid: number;
  lines: Line[];
  /** The code that it left with by itself; nothing if it was ended by a signal or lives. */
  exit: number | undefined;
}

/** What an agent wrote down, in order. A line that was cut off by a signal says nothing. */
export function readNotes(file: string): Line[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text) => {
      try {
        const parsed = Line.safeParse(JSON.parse(text));
        return parsed.success ? [parsed.data] : [];
      } catch {
        return [];
      }
    });
}

/** The accounts of all agents, by their run. */
export function readAllNotes(folder: string): Map<RunId, Line[]> {
  const notes = new Map<RunId, Line[]>();
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".notes"))) {
    for (const line of readNotes(join(folder, name))) notes.set(line.run, [...(notes.get(line.run) ?? []), line]);
  }
  return notes;
}

export function startsOf(lines: readonly Line[]): Start[] {
  const starts: Start[] = [];
  for (const line of lines) {
    const last = starts.at(-1);
    if (line.is === "start") starts.push({ epoch: line.epoch, pid: line.pid, lines: [line], exit: undefined });
    else if (last?.pid === line.pid) last.lines.push(line);
    if (line.is === "end" && last) last.exit = line.code;
  }
  return starts;
}
