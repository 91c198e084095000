import { checkFile } from "./check-file.ts";
import { type ConfigFile, type Layer, type Surroundings, findConfigFiles } from "./config-files.ts";
import { type Path, type Table, leavesOf, sayKey, unitOf, withValue } from "./key.ts";
import { parseToml } from "./parse.ts";
import type { Problem } from "./problem.ts";
import { readConfigFile } from "./read-file.ts";
import { Values } from "./schema.ts";
import { findPlace, lineAt, mapToml } from "../edit/toml-map.ts";

/** Where a value comes from. */
export interface Origin {
  layer: Layer;
  file: string;
  line: number;
}

/** What the files say together, and what is wrong with them. */
export interface Config {
  /** Only what a file sets; wrong values are left out. */
  values: Values;
  /** By the key as it is typed. */
  origins: ReadonlyMap<string, Origin>;
  warnings: readonly Problem[];
  errors: readonly Problem[];
  files: readonly ConfigFile[];
}

/** Reads the files that count here. Never throws for what is in them: `errors` says what is wrong. */
export async function loadConfig(around: Surroundings, files = findConfigFiles(around)): Promise<Config> {
  const origins = new Map<string, Origin>();
  const problems: Problem[] = [];
  const taken = new Map<string, Layer>();
  let values: Table = {};
  for (const file of files.filter(({ isThere }) => isThere)) {
    const read = await readValues(file, around.userFile);
    problems.push(...read.problems);
    for (const { path, value } of leavesOf(read.values)) {
      const unit = sayKey(unitOf(path));
      if ((taken.get(unit) ?? file.layer) !== file.layer) continue;
      taken.set(unit, file.layer);
      origins.set(sayKey(path), { layer: file.layer, file: file.path, line: read.lineOf(path) });
      values = withValue(values, path, value);
    }
  }
  return {
    values: Values.parse(values),
    origins,
    warnings: problems.filter(({ level }) => level === "warning"),
    errors: problems.filter(({ level }) => level === "error"),
    files,
  };
}

interface FileValues {
  values: Table;
  problems: Problem[];
  lineOf(path: Path): number;
}

/** What one file says. */
async function readValues(file: ConfigFile, userFile: string): Promise<FileValues> {
  const read = await readConfigFile(file);
  return "problem" in read ? nothing(read.problem) : parseValues(file, read.text, userFile);
}

/** What the text of a file says. */
export function parseValues(file: ConfigFile, text: string, userFile: string): FileValues {
  const parsed = parseToml(text, file.path);
  if ("problem" in parsed) return nothing(parsed.problem);
  const map = mapToml(text);
  const lineOf = (path: Path): number => lineAt(text, findPlace(map, path) ?? 0).line;
  return { ...checkFile({ file, text, table: parsed.table, map, userFile }), lineOf };
}

function nothing(problem: Problem): FileValues {
  return { values: {}, problems: [problem], lineOf: () => 1 };
}
