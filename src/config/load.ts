import { checkFile } from "./check-file.ts";
import { type ConfigFile, type Layer, type ConfigSurroundings, findConfigFiles } from "./config-files.ts";
import { unitOf, formatKey } from "./key.ts";
import { type KeyPath, type Table, leavesOf, withValue } from "../edit/table.ts";
import { TomlError, parse } from "smol-toml";
import { findPeopleProblems } from "./people-problem.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { readConfigFile } from "./read-file.ts";
import { Values } from "./schema.ts";
import { findPlace, lineAt, mapToml } from "../edit/toml-map.ts";

/** The source of a value. */
export interface ValueOrigin {
  layer: Layer;
  file: string;
  line: number;
}

/** The merged configuration files and their problems. */
export interface Config {
  /** The values set by files, without invalid ones. */
  values: Values;
  /** By typed key. */
  origins: ReadonlyMap<string, ValueOrigin>;
  warnings: readonly ConfigProblem[];
  errors: readonly ConfigProblem[];
  files: readonly ConfigFile[];
}

/** Reads and merges the configuration files. Invalid content never throws: it is listed in `errors`. */
export async function loadConfig(around: ConfigSurroundings, files = findConfigFiles(around)): Promise<Config> {
  const origins = new Map<string, ValueOrigin>();
  const problems: ConfigProblem[] = [];
  const taken = new Map<string, Layer>();
  let values: Table = {};
  for (const file of files.filter(({ isThere }) => isThere)) {
    const read = await readValues(file, around.userFile);
    problems.push(...read.problems);
    for (const { path, value } of leavesOf(read.values)) {
      const unit = formatKey(unitOf(path));
      if ((taken.get(unit) ?? file.layer) !== file.layer) continue;
      taken.set(unit, file.layer);
      origins.set(formatKey(path), { layer: file.layer, file: file.path, line: read.lineOf(path) });
      values = withValue(values, path, value);
    }
  }
  const parsed = Values.parse(values);
  problems.push(...findIdlePolicy(parsed, origins), ...findPeopleProblems(parsed, origins));
  return {
    values: parsed,
    origins,
    warnings: problems.filter(({ level }) => level === "warning"),
    errors: problems.filter(({ level }) => level === "error"),
    files,
  };
}

/** Without steps nobody can be escalated to, and the configured policy has no effect. */
function findIdlePolicy({ questions, escalation }: Values, origins: Config["origins"]): ConfigProblem[] {
  const origin = origins.get("questions.on_timeout");
  if (!origin || questions?.on_timeout !== "escalate" || escalation?.steps) return [];
  return [
    {
      level: "warning",
      source: origin.file,
      line: origin.line,
      key: "questions.on_timeout",
      message: 'questions.on_timeout = "escalate" names nobody to escalate to; until then such questions fail',
      hint: 'Add [escalation] with steps = [{ after = "30m", to = ["lena"] }] to your own file',
    },
  ];
}

interface FileValues {
  values: Table;
  problems: ConfigProblem[];
  lineOf(path: KeyPath): number;
}

/** Reads the values of one file. */
async function readValues(file: ConfigFile, userFile: string): Promise<FileValues> {
  const read = await readConfigFile(file);
  return "problem" in read ? nothing(read.problem) : parseValues(file, read.text, userFile);
}

/** Parses the values of a file's text. */
export function parseValues(file: ConfigFile, text: string, userFile: string): FileValues {
  const parsed = parseToml(text, file.path);
  if ("problem" in parsed) return nothing(parsed.problem);
  const map = mapToml(text);
  const lineOf = (path: KeyPath) => lineAt(text, findPlace(map, path) ?? 0).line;
  return { ...checkFile({ file, text, table: parsed.table, map, userFile }), lineOf };
}

function nothing(problem: ConfigProblem): FileValues {
  return { values: {}, problems: [problem], lineOf: () => 1 };
}

const MOST_DEPTH = 16;

/** Parses TOML, or returns the position of the error. */
export function parseToml(text: string, source: string): { table: Table } | { problem: ConfigProblem } {
  try {
    return { table: parse(text, { maxDepth: MOST_DEPTH, unsafeKeyBehaviour: "throw" }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    // The library appends the surrounding lines, which may contain anything, so only its first line is used.
    const [first = ""] = error.message.replace(/^Invalid TOML document:\s*/, "").split("\n");
    return {
      problem: {
        level: "error",
        source,
        line,
        column,
        message: `This is not TOML: ${first.trim()}`,
        hint: 'A setting is written as: key = "value"',
      },
    };
  }
}
