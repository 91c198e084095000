import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SessionSearch, Witnessed } from "../agent.ts";
import { type Json, parseJson } from "../json.ts";

/** Finds files by name below a directory, up to a depth; none if it cannot be read. */
export async function findFiles(root: string, isWanted: (name: string) => boolean, depth: number): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(root, entry.name);
      if (entry.isDirectory()) return depth > 0 ? findFiles(path, isWanted, depth - 1) : [];
      return isWanted(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}

/**
 * Searches transcripts of one JSON object per line. Only lines with one of the names are parsed; a line that has a name
 * but cannot be parsed may be truncated, so the result is unknown.
 */
export async function searchRecords(
  files: readonly string[],
  names: ReadonlyArray<string | undefined>,
  isGiven: (line: Json) => boolean,
): Promise<Witnessed> {
  const wanted = names.filter((name) => name !== undefined && name !== "").filter((name) => name !== undefined);
  let worst: Witnessed = files.length === 0 ? "unknown" : "absent";
  for (const file of files) {
    const found = await searchRecord(file, wanted, isGiven);
    if (found === "given") return "given";
    if (found === "unknown") worst = "unknown";
  }
  return worst;
}

/** Reads a value from a matching line of a transcript and its first line; undefined if it has none. */
type RecordReader<Value> = (line: Json, record: { file: string; first: Json | undefined }) => Value | undefined;

/** Reads one value from each transcript that contains the text; unreadable ones are skipped. */
export async function readMatchingRecords<Value>(
  files: readonly string[],
  { text, sinceMs }: Pick<SessionSearch, "text" | "sinceMs">,
  read: RecordReader<Value>,
): Promise<Value[]> {
  const found: Value[] = [];
  for (const file of files) {
    const value = await readOne(file, { text, sinceMs }, read).catch(() => undefined);
    if (value !== undefined) found.push(value);
  }
  return found;
}

async function readOne<Value>(
  file: string,
  { text, sinceMs }: Pick<SessionSearch, "text" | "sinceMs">,
  read: RecordReader<Value>,
): Promise<Value | undefined> {
  if ((await stat(file)).mtimeMs < sinceMs) return undefined;
  let first: { json: Json | undefined } | undefined;
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    first ??= { json: parseJson(line) };
    const object = line.includes(text) ? parseJson(line) : undefined;
    const value = object && read(object, { file, first: first.json });
    if (value !== undefined) return value;
  }
  return undefined;
}

async function searchRecord(
  file: string,
  wanted: readonly string[],
  isGiven: (line: Json) => boolean,
): Promise<Witnessed> {
  let found: Witnessed = "absent";
  try {
    for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
      if (!wanted.some((name) => line.includes(name))) continue;
      const object = parseJson(line);
      if (!object) found = "unknown";
      else if (isGiven(object)) return "given";
    }
  } catch {
    return "unknown"; // it is gone, or not ours to read
  }
  return found;
}
