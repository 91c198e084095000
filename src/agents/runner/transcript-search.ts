import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SessionSearch, Witnessed } from "../agent.ts";
import { type Json, parseJson } from "../json.ts";

/** Files below a directory whose name fits, at most so many levels down; none when it cannot be read. */
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
 * Looks through records of one JSON object on each line. Only lines that hold one of the names are parsed; one
 * that holds a name and cannot be parsed may have been cut off, so nothing is known of it.
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

/** What is read from the line of a record that holds a text, with its first line; undefined for a line that says nothing. */
type ReadHolding<Value> = (line: Json, record: { file: string; first: Json | undefined }) => Value | undefined;

/** One value for each record that holds the text; a record that cannot be read holds nothing. */
export async function readHolding<Value>(
  files: readonly string[],
  { text, sinceMs }: Pick<SessionSearch, "text" | "sinceMs">,
  read: ReadHolding<Value>,
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
  read: ReadHolding<Value>,
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
