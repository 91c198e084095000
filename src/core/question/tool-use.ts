import { isVisibleLine, quoteLine } from "../text/foreign-text.ts";
import { type DiffLine, diffLines } from "../text/line-diff.ts";
import { pluralize } from "../text/plural.ts";
import { quoteShellWord } from "../text/shell-word.ts";
import { Refusal } from "../refusal.ts";
import { makeVisible } from "../text/visible.ts";

const MAX_DEPTH = 64;
const LONGEST_TOOL = 200;
/** The longest subject in the title; the details have all of it. */
const SUBJECT_CHARS = 110;
/** A file that is rewritten is compared with what it was up to this length. */
const MOST_REWRITTEN = 40_000;
/** Text that somebody could take for a number, a truth value or nothing is quoted. */
const NOT_TEXT = /^(?:-?\d[\d.eE+-]*|true|false|null|["[{].*|)$/;

const COMMANDS: readonly string[] = ["command", "cmd", "script"];
const PATHS: readonly string[] = ["file_path", "filePath", "filepath", "notebook_path", "path", "file"];
const PATCHES: readonly string[] = ["diff", "patch", "unified_diff"];
/** The arguments that name a subject best, in this order; without them the first text does. */
const SUBJECTS: readonly string[] = [...COMMANDS, ...PATHS, "url", "uri", "query", "sql", "pattern", "name"];

/** A tool use an agent wants, with its exact arguments. */
export interface ToolUse {
  tool: string;
  input: unknown;
}

/** A tool use with the text of the file that it changes, as it is before. */
export interface ToolUseInFile extends ToolUse {
  file?: string | undefined;
}

/** One argument: its name, with a path for nested ones, and its value. */
export interface ToolArgument {
  name: string;
  /** The last part of the name. */
  key: string;
  value: unknown;
}

/** The words for what an approval allows. */
export interface ToolDescription {
  /** One line with the command, the path or the first argument. */
  title: string;
  /** All arguments as Markdown: a command as it is, edits as a diff, the rest as named fields. */
  details: string;
}

/** Says what an approval of this tool use allows. Every surface shows these words. */
export function describeToolUse(use: ToolUseInFile): ToolDescription {
  const all = listArguments(use.input);
  const { blocks, rest } = takeBlocks(all, use.file);
  const fields = rest.map(sayField).join("\n");
  const parts = [...blocks, ...(fields === "" ? [] : [fence("", fields)])];
  return { title: titleOfUse(use.tool, all), details: parts.join("\n\n") || "It takes no arguments." };
}

/** Lists the arguments of a tool use: the leaves of its input, in order. */
export function listArguments(input: unknown): ToolArgument[] {
  return leaves("", "input", input);
}

/** The command of a tool use, if this argument is one: text, or the words of one. */
export function findCommand({ key, value }: ToolArgument): string | undefined {
  if (!COMMANDS.includes(key)) return undefined;
  return typeof value === "string" ? value : isWords(value) ? value.map(quoteShellWord).join(" ") : undefined;
}

/** Tools of agents that run a command in a shell. */
const SHELL_TOOLS: ReadonlySet<string> = new Set(["Bash", "bash", "a command", "run_shell_command", "shell"]);

/** The command of a tool that runs it in a shell, and the argument it stands in. */
export function findShellCommand({ tool, input }: ToolUse): { argument: string; text: string } | undefined {
  return SHELL_TOOLS.has(tool) ? findCommandText(input) : undefined;
}

/** The command among the arguments of a tool use, if it is one text. */
export function findCommandText(input: unknown): { argument: string; text: string } | undefined {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return undefined;
  const found = Object.entries(input).filter(([name]) => COMMANDS.includes(name));
  const [only, second] = found;
  return only && !second && typeof only[1] === "string" ? { argument: only[0], text: only[1] } : undefined;
}

/** Says whether the arguments change a file. */
export function isEdit(input: unknown): boolean {
  return editsOf(listArguments(input)).length > 0;
}

/** The path of the file that the arguments change. */
export function findEditedPath(input: unknown): string | undefined {
  const all = listArguments(input);
  const path = editsOf(all).length > 0 ? all.find(isPathArgument)?.value : undefined;
  return typeof path === "string" && path !== "" ? path : undefined;
}

/** Sorts the names of nested arguments, so that their order makes no difference. */
export function sortKeys(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new Refusal("too_large", `The arguments are nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((each) => sortKeys(each, depth + 1));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each, depth + 1)]));
}

/** Says whether an argument names a file. */
export function isPathArgument({ key }: ToolArgument): boolean {
  return PATHS.includes(key);
}

/** The name of a tool in a sentence. Its server chose it, so it is foreign text. */
export function toolName(tool: string): string {
  return isVisibleLine(tool, LONGEST_TOOL) ? tool : quoteLine(tool);
}

function leaves(name: string, key: string, value: unknown): ToolArgument[] {
  const isList = Array.isArray(value);
  const isEmpty = value === null || typeof value !== "object" || Object.keys(value).length === 0;
  if (isEmpty || (COMMANDS.includes(key) && isWords(value))) {
    return name === "" && isEmpty && typeof value === "object" ? [] : [{ name: name || key, key, value }];
  }
  return Object.entries(value).flatMap(([part, each]) => {
    const shown = isPlainName(part) ? part : quoteLine(part, Infinity);
    const path = isList ? `${name || key}[${part}]` : name === "" ? shown : `${name}.${shown}`;
    return leaves(path, isList ? key : part, each);
  });
}

function isPlainName(part: string) {
  return part !== "" && isVisibleLine(part, LONGEST_TOOL) && !/[\s:]/.test(part);
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}

function titleOfUse(tool: string, all: readonly ToolArgument[]) {
  const name = toolName(tool);
  const subject =
    SUBJECTS.map((key) => all.find((each) => each.key === key && sayValue(each) !== "")).find((found) => found) ??
    all.find(({ value }) => typeof value === "string" && value !== "");
  if (!subject) return `May the agent use ${name}?`;
  const said = findCommand(subject) ?? sayValue(subject);
  const link = findCommand(subject) !== undefined ? "to run" : isPathArgument(subject) ? "on" : "with";
  const { length } = Array.from(said);
  const size = length > SUBJECT_CHARS ? ` (${length} characters)` : "";
  return `May the agent use ${name} ${link} ${quoteLine(said, SUBJECT_CHARS)}${size}?`;
}

function sayValue({ value }: ToolArgument) {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The arguments that read best as a block of their own, and the others. */
function takeBlocks(
  all: readonly ToolArgument[],
  file: string | undefined,
): { blocks: string[]; rest: ToolArgument[] } {
  const taken = new Set<ToolArgument>();
  const blocks: string[] = [];
  const take = (block: string, ...used: Array<ToolArgument | undefined>) => {
    blocks.push(block);
    for (const each of used) if (each) taken.add(each);
  };
  for (const each of all) {
    const command = findCommand(each);
    if (command !== undefined) take(fence("sh", visibleLines(command)), each);
    else if (PATCHES.includes(each.key) && typeof each.value === "string")
      take(fence("diff", `${each.name}:\n${visibleLines(each.value)}`), each);
  }
  const path = all.find((each) => isPathArgument(each) && isVisibleLine(sayValue(each), Infinity));
  const hunks: string[] = [];
  for (const { used, lines, about } of editsOf(all, file)) {
    hunks.push([about, ...lines.map(({ mark, text }) => mark + makeVisible(text))].join("\n"));
    for (const each of used) taken.add(each);
  }
  if (hunks.length > 0) take(fence("diff", [...(path ? [`*** ${sayValue(path)}`] : []), ...hunks].join("\n")), path);
  return { blocks, rest: all.filter((each) => !taken.has(each)) };
}

interface Edit {
  used: ToolArgument[];
  lines: DiffLine[];
  /** The line above them: where they are in the file, and how many change. */
  about: string;
}

/**
 * The edits among the arguments: an old and a new text in the same place, or the whole content of a file. With the file
 * as it is before, they have line numbers; each edit is applied to the file as the one before leaves it.
 */
function editsOf(all: readonly ToolArgument[], file?: string): Edit[] {
  const hasPath = all.some(isPathArgument);
  let text = file;
  return all.flatMap((each): Edit[] => {
    const { key, name, value } = each;
    if (typeof value !== "string") return [];
    if (hasPath && (key === "content" || key === "new_source")) {
      const isRewritten = key === "content" && text !== undefined && text.length + value.length <= MOST_REWRITTEN;
      if (isRewritten && text !== undefined)
        return [{ used: [each], ...diffInFile({ start: 1, before: text, after: value }, "") }];
      const lines = value === "" ? [] : value.split("\n").map((line): DiffLine => ({ mark: "+", text: line }));
      return [{ used: [each], lines, about: `@@ ${pluralize(lines.length, "line")} written @@` }];
    }
    const other = OLD_AND_NEW[key];
    if (other === undefined) return [];
    const place = name.slice(0, name.length - key.length);
    const next = all.find((one) => one.name === place + other);
    if (typeof next?.value !== "string") return [];
    const nameOfEdit = place.replace(/\.$/, "");
    const found = text === undefined ? undefined : locate(text, value, next.value);
    if (text !== undefined && found) text = found.whole;
    return [{ used: [each, next], ...diffInFile(found ?? { before: value, after: next.value }, nameOfEdit) }];
  });
}

interface PlacedEdit {
  /** The number of its first line, if the file is known. */
  start?: number;
  before: string;
  after: string;
}

/** Finds an edit in its file: whole lines, their number, and the file after it. */
function locate(file: string, before: string, after: string): (PlacedEdit & { whole: string }) | undefined {
  const at = before === "" ? -1 : file.indexOf(before);
  if (at < 0) return undefined;
  const from = file.lastIndexOf("\n", at - 1) + 1;
  const newline = file.indexOf("\n", at + before.length);
  const end = before.endsWith("\n") ? at + before.length - 1 : newline < 0 ? file.length : newline;
  const start = file.slice(0, from).split("\n").length;
  const old = file.slice(from, Math.max(from, end));
  const changed = file.slice(from, at) + after + (before.endsWith("\n") ? "" : file.slice(at + before.length, end));
  const whole = file.slice(0, at) + after + file.slice(at + before.length);
  return { start, before: before.endsWith("\n") ? `${old}\n` : old, after: changed, whole };
}

/** The lines of an edit below a line that says where they are. */
function diffInFile({ start, before, after }: PlacedEdit, name: string): Pick<Edit, "lines" | "about"> {
  const lines = diffLines(before, after);
  const count = (...marks: ReadonlyArray<DiffLine["mark"]>) => lines.filter(({ mark }) => marks.includes(mark)).length;
  const said = `${name === "" ? "" : `${name}: `}${count("-")} removed, ${pluralize(count("+"), "line")} added`;
  if (start === undefined) return { lines, about: `@@ ${said} @@` };
  const olds = `-${start},${count("-", " ")}`;
  return { lines, about: `@@ ${olds} +${start},${count("+", " ")} @@ ${said}` };
}

/** The argument with the new text, by that with the old one. */
const OLD_AND_NEW: Readonly<Record<string, string>> = {
  old_string: "new_string",
  oldString: "newString",
  old_str: "new_str",
  old_text: "new_text",
};

/** A field in one line, or its text indented below its name, so that no text can pretend to be the next field. */
function sayField({ name, value }: ToolArgument): string {
  if (typeof value !== "string") return `${name}: ${JSON.stringify(value) ?? "null"}`;
  if (NOT_TEXT.test(value) || value.trim() !== value) {
    if (!value.includes("\n")) return `${name}: "${makeVisible(value)}"`;
  }
  const text = visibleLines(value);
  return text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "    ")}` : `${name}: ${text}`;
}

/** Shows invisible characters, also a carriage return before a newline. */
function visibleLines(text: string) {
  return text.split("\n").map(makeVisible).join("\n");
}

/** A code fence longer than any in the text. */
function fence(language: string, text: string) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}
