import { redact } from "../core/secret/redact.ts";
import { nearest } from "../core/text/nearest.ts";
import type { ConfigFile } from "./config-files.ts";
import {
  type Path,
  type Table,
  isTable,
  leavesOf,
  namesIn,
  sayKey,
  schemaAt,
  unitOf,
  valueAt,
  withValue,
} from "./key.ts";
import type { Problem } from "./problem.ts";
import { refuseInProject } from "./project-key.ts";
import { Values } from "./schema.ts";
import { isSecretName } from "./secret-name.ts";
import { type TomlMap, findPlace, lineAt } from "../edit/toml-map.ts";

const SHOWN_CHARS = 60;

/** A file that was read and parsed. */
export interface Parsed {
  file: ConfigFile;
  text: string;
  table: Table;
  map: TomlMap;
  /** Where people put what a project may not set. */
  userFile: string;
}

/** What is wrong in a file, and what is left of it without that. */
export function checkFile(parsed: Parsed): { values: Table; problems: Problem[] } {
  const unknown = findUnknown(parsed.table).map((path) => unknownKey(parsed, path));
  const refused = parsed.file.layer === "project" ? refusedKeys(parsed) : [];
  const wrong = wrongValues(parsed);
  const problems = [...unknown, ...refused, ...wrong];
  let values = parsed.table;
  for (const { path, problem } of problems) {
    values = withValue(values, problem.level === "error" ? unitOf(path) : path, undefined);
  }
  return {
    values,
    problems: problems.map(({ problem }) => problem).sort((one, other) => (one.line ?? 0) - (other.line ?? 0)),
  };
}

interface Found {
  path: Path;
  problem: Problem;
}

/** The topmost keys that no schema knows. */
function findUnknown(table: Table, above: Path = []): Path[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    if (!schemaAt(Values, path)) return [path];
    return isTable(value) ? findUnknown(value, path) : [];
  });
}

function unknownKey(parsed: Parsed, path: Path): Found {
  const name = path.at(-1) ?? "";
  if (
    isSecretName(name) ||
    leavesOf({ [name]: valueAt(parsed.table, path) }).some(({ path: [, ...below] }) => isSecretName(below.at(-1) ?? ""))
  ) {
    return at(parsed, path, {
      ...{ level: "error", message: `"${sayKey(path)}" would keep a secret in this file` },
      hint: `Keep it elsewhere and write ${name}_env = "<variable>" or ${name}_file = "<path>"`,
    });
  }
  const parent = schemaAt(Values, path.slice(0, -1));
  const meant = nearest(name.replaceAll("-", "_"), (parent && namesIn(parent)) ?? []);
  const moved = meant === undefined ? findElsewhere(name) : undefined;
  const key = meant === undefined ? moved : sayKey([...path.slice(0, -1), meant]);
  return at(parsed, path, {
    ...{ level: "warning", message: `There is no setting "${sayKey(path)}"` },
    hint: key === undefined ? "See what can be set: askd config list" : `Did you mean ${key}?`,
  });
}

/** A key of another table by the same name. */
function findElsewhere(name: string): string | undefined {
  const tables = Object.keys(Values.shape);
  const table = tables.find((one) => {
    const schema = schemaAt(Values, [one]);
    return schema && namesIn(schema)?.includes(name);
  });
  return table && `${table}.${name}`;
}

function refusedKeys(parsed: Parsed): Found[] {
  return leavesOf(parsed.table)
    .filter(({ path }) => schemaAt(Values, path))
    .flatMap(({ path, value }) => {
      const message = refuseInProject(path, value);
      const hint = `It belongs into your own file, ${parsed.userFile}. Type: askd config set --user ${sayKey(path)} <value>`;
      return message === undefined ? [] : [at(parsed, path, { level: "error", message, hint })];
    });
}

function wrongValues(parsed: Parsed): Found[] {
  const result = Values.safeParse(parsed.table);
  return (result.error?.issues ?? []).map((issue) => {
    const whole = issue.path.map(String);
    // A list counts as one value.
    const list = whole.findIndex((_, index) => Array.isArray(valueAt(parsed.table, whole.slice(0, index))));
    const path = list < 0 ? whole : whole.slice(0, list);
    const value = valueAt(parsed.table, path);
    const given = value === undefined ? "is missing" : `cannot be ${sayValue(value)}`;
    return at(parsed, path, { level: "error", message: `${sayKey(path)} ${given}; ${sayInstead(issue, path)}` });
  });
}

/** What to write instead. Tables and names have no words of their own in the schema. */
function sayInstead({ code, message }: { code?: string; message: string }, path: Path): string {
  if (code === "invalid_key") return "write a name of letters, digits, - and _";
  return message.startsWith("Invalid") ? `write a table: [${sayKey(path)}]` : message;
}

/** A value as it may be shown: without secrets, and not too long. */
export function sayValue(value: unknown): string {
  const json = redact(JSON.stringify(value) ?? String(value), []);
  return json.length > SHOWN_CHARS ? `${json.slice(0, SHOWN_CHARS - 1)}…` : json;
}

function at({ file, text, map }: Parsed, path: Path, problem: Omit<Problem, "source" | "key">): Found {
  const place = findPlace(map, path);
  return {
    path,
    problem: { ...problem, source: file.path, key: sayKey(path), ...(place !== undefined && lineAt(text, place)) },
  };
}
