import { MINUTE_MS } from "../core/instant.ts";
import { redact } from "../core/secret/redact.ts";
import { parseDuration } from "../core/text/duration.ts";
import { findNearest } from "../core/text/nearest.ts";
import type { ConfigFile } from "./config-files.ts";
import { formatKey, isSecretName, namesIn, schemaAt, unitOf } from "./key.ts";
import { type KeyPath, type Table, isTable, leavesOf, valueAt, withValue } from "../edit/table.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { Values } from "./schema.ts";
import { type TomlMap, findPlace, lineAt } from "../edit/toml-map.ts";

const SHOWN_CHARS = 60;
/**
 * The keys a project's file may set. Anybody may have written the repository, so it names no program, address, store,
 * person or secret, lifts no limit, and never lets silence, or a time too short to answer in, become an answer.
 */
const PROJECT_KEYS: readonly string[] = [
  "questions.live_window",
  "questions.timeout",
  "questions.on_timeout",
  "questions.max_per_run",
  "answers.undo_window.cli",
  "notifications.terminal_bell",
  "notifications.macos_notification",
];
const SILENCE_ANSWERS: readonly unknown[] = ["proceed", "default"];

/** A parsed configuration file. */
export interface ParsedFile {
  file: ConfigFile;
  text: string;
  table: Table;
  map: TomlMap;
  /** The user's own file, for settings a project may not set. */
  userFile: string;
}

/** Validates a file: its problems, and the remaining valid values. */
export function checkFile(parsed: ParsedFile): { values: Table; problems: ConfigProblem[] } {
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

interface FoundProblem {
  path: KeyPath;
  problem: ConfigProblem;
}

/** The topmost keys that no schema knows. */
function findUnknown(table: Table, above: KeyPath = []): KeyPath[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    if (!schemaAt(Values, path)) return [path];
    return isTable(value) ? findUnknown(value, path) : [];
  });
}

function unknownKey(parsed: ParsedFile, path: KeyPath): FoundProblem {
  const name = path.at(-1) ?? "";
  if (
    isSecretName(name) ||
    leavesOf({ [name]: valueAt(parsed.table, path) }).some(({ path: [, ...below] }) => isSecretName(below.at(-1) ?? ""))
  ) {
    return at(parsed, path, {
      level: "error",
      message: `"${formatKey(path)}" would keep a secret in this file`,
      hint: `Keep it elsewhere and write ${name}_env = "<variable>" or ${name}_file = "<path>"`,
    });
  }
  const parent = schemaAt(Values, path.slice(0, -1));
  const meant = findNearest(name.replaceAll("-", "_"), (parent && namesIn(parent)) ?? []);
  const moved = meant === undefined ? findElsewhere(name) : undefined;
  const key = meant === undefined ? moved : formatKey([...path.slice(0, -1), meant]);
  return at(parsed, path, {
    level: "warning",
    message: `There is no setting "${formatKey(path)}"`,
    hint: key === undefined ? "See what can be set: askd config list" : `Did you mean ${key}?`,
  });
}

/** Finds a key with the same name in another table. */
function findElsewhere(name: string) {
  const tables = Object.keys(Values.shape);
  const table = tables.find((one) => {
    const schema = schemaAt(Values, [one]);
    return schema && namesIn(schema)?.includes(name);
  });
  return table && `${table}.${name}`;
}

function refusedKeys(parsed: ParsedFile): FoundProblem[] {
  return leavesOf(parsed.table)
    .filter(({ path }) => schemaAt(Values, path))
    .flatMap(({ path, value }) => {
      const message = refuseInProject(path, value);
      const hint = `It belongs into your own file, ${parsed.userFile}. Type: askd config set --user ${formatKey(path)} <value>`;
      return message === undefined ? [] : [at(parsed, path, { level: "error", message, hint })];
    });
}

/** Why a project's file may not say this; nothing if it may. */
export function refuseInProject(path: KeyPath, value: unknown): string | undefined {
  const key = path.join(".");
  if (!PROJECT_KEYS.includes(key)) return `A project may not set ${key}`;
  if (key === "questions.on_timeout" && SILENCE_ANSWERS.includes(value)) {
    return `A project may not make silence an answer: ${key} = "${String(value)}"`;
  }
  if (key === "questions.timeout" && isTooShort(value)) {
    return `A project may not leave people less than a minute: ${key} = "${String(value)}"`;
  }
  return undefined;
}

/**
 * Says whether a timeout is too short to answer in, so that the policy would always decide. Invalid durations are
 * reported elsewhere.
 */
function isTooShort(value: unknown) {
  try {
    return typeof value === "string" && parseDuration(value) < MINUTE_MS;
  } catch {
    return false;
  }
}

function wrongValues(parsed: ParsedFile): FoundProblem[] {
  const result = Values.safeParse(parsed.table);
  return (result.error?.issues ?? []).map((issue) => {
    const whole = issue.path.map(String);
    // A list counts as one value.
    const list = whole.findIndex((_, index) => Array.isArray(valueAt(parsed.table, whole.slice(0, index))));
    const path = list < 0 ? whole : whole.slice(0, list);
    const value = valueAt(parsed.table, path);
    const given = value === undefined ? "is missing" : `cannot be ${showValue(value)}`;
    const message = `${formatKey(path)} ${given}; ${describeExpected(issue, path)}`;
    // Of a list of tables, the wrong one is named.
    if (path[0] === "routes" && whole.length > 1) return inRoute(parsed, whole, issue.message);
    return at(parsed, path, { level: "error", message });
  });
}

/** A problem in one of the rules: the whole list is left out, and the problem names the place in it. */
function inRoute(parsed: ParsedFile, [list = "", index = "0", key]: KeyPath, message: string): FoundProblem {
  const route: unknown = (valueAt(parsed.table, [list]) as unknown[])[Number(index)]; // the schema found a list there
  const value = key === undefined ? undefined : valueAt(route, [key]);
  const given = key === undefined || value === undefined ? "" : `${key} cannot be ${showValue(value)}; `;
  const { problem } = at(parsed, key === undefined ? [list, index] : [list, index, key], {
    level: "error",
    message: `route ${Number(index) + 1}: ${given}${message}`,
  });
  return { path: [list], problem: { ...problem, key: list } };
}

/** The advice for a wrong value. Tables and names have no words of their own in the schema. */
function describeExpected({ code, message }: { code?: string; message: string }, path: KeyPath) {
  if (code === "invalid_key") return "write a name of letters, digits, - and _";
  return message.startsWith("Invalid") ? `write a table: [${formatKey(path)}]` : message;
}

/** Formats a value for display: without secrets, and shortened. */
export function showValue(value: unknown): string {
  const json = redact(JSON.stringify(value) ?? String(value), []);
  return json.length > SHOWN_CHARS ? `${json.slice(0, SHOWN_CHARS - 1)}…` : json;
}

function at(
  { file, text, map }: ParsedFile,
  path: KeyPath,
  problem: Omit<ConfigProblem, "source" | "key">,
): FoundProblem {
  const place = findPlace(map, path);
  return {
    path,
    problem: { ...problem, source: file.path, key: formatKey(path), ...(place !== undefined && lineAt(text, place)) },
  };
}
