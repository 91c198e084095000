import { parse } from "smol-toml";
import { type Json, isJson } from "../agents/json.ts";
import type { Editor } from "./editor.ts";
import { layoutOf, splice } from "./layout.ts";
import { type Statement, scanToml } from "./toml-scan.ts";
import { type Change, type Path, Unfit } from "./wish.ts";

const MARK = "\ufeff";

/** TOML. Only tables of our own are touched; what is added to one comes after its last line. */
export const tomlEditor: Editor = {
  parse(text) {
    try {
      return parse(withoutMark(text), { integersAsBigInt: "asNeeded" });
    } catch (error) {
      throw new Unfit(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  },
  apply(text, change) {
    const mark = text.slice(0, text.length - withoutMark(text).length);
    return mark + applyTo(withoutMark(text), change);
  },
};

function applyTo(text: string, change: Change): string {
  const statements = scanToml(text);
  if (change.do === "remove") return remove(text, statements, change.path);
  if (change.do === "append") throw new Unfit(`${change.path.join(".")} is no table of ours`);
  const pair = statements.find((one) => one.is === "pair" && isSame(one.path, change.path));
  if (pair) return splice(text, pair.valueAt, pair.end, writeValue(change.value));
  if (isJson(change.value)) return appendTable(text, change.path, change.value);
  return insertPair(text, statements, change.path, change.value);
}

/** A new table at the end: whatever comes before, it can stand there. */
function appendTable(text: string, path: Path, value: Json): string {
  const { eol } = layoutOf(text);
  const gap = text === "" ? "" : /\n\s*\n$/.test(text) ? "" : text.endsWith("\n") ? eol : eol + eol;
  const pairs = Object.entries(value).map(([name, inner]) => writePair(name, inner));
  return `${text}${gap}${[`[${path.map((name) => writeKey(String(name))).join(".")}]`, ...pairs].join(eol)}${eol}`;
}

function insertPair(text: string, statements: readonly Statement[], path: Path, value: unknown): string {
  const head = statements.findIndex((one) => one.is === "table" && isSame(one.path, path.slice(0, -1)));
  if (head < 0) throw new Unfit(`${path.slice(0, -1).join(".")} is not written as a table of its own`);
  const at = endOfLine(text, lastOf(statements, head).end);
  const { eol } = layoutOf(text);
  return splice(text, at, at, `${eol}${writePair(String(path.at(-1)), value)}`);
}

/** A table goes with those below it and the blank line before it; a pair goes with its line. */
function remove(text: string, statements: readonly Statement[], path: Path): string {
  const at = statements.findIndex((one) => isSame(one.path, path) || (one.is !== "pair" && isBelow(one.path, path)));
  const found = statements[at];
  if (!found) return text;
  const last = found.is === "pair" ? found : lastOf(statements, at);
  const line = text.lastIndexOf("\n", found.start - 1) + 1;
  const blank = found.is === "pair" ? 0 : (/(?:(?<=^|\n)[ \t]*\r?\n)$/.exec(text.slice(0, line))?.[0].length ?? 0);
  const rest = splice(text, line - blank, startOfNext(text, last.end), "");
  return remove(rest, scanToml(rest), path);
}

/** The last statement of the table that begins there. */
function lastOf(statements: readonly Statement[], head: number): Statement {
  const next = statements.findIndex((one, index) => index > head && one.is !== "pair");
  const last = statements[(next < 0 ? statements.length : next) - 1];
  if (!last) throw new Error("A table has no statement");
  return last;
}

function endOfLine(text: string, at: number): number {
  return at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);
}

function startOfNext(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function isSame(one: readonly string[], other: Path): boolean {
  return one.length === other.length && isBelow(one, other);
}

function isBelow(one: readonly string[], path: Path): boolean {
  return path.every((name, index) => one[index] === name);
}

function writePair(name: string, value: unknown): string {
  return `${writeKey(name)} = ${writeValue(value)}`;
}

function writeKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function writeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one: unknown) => writeValue(one)).join(", ")}]`;
  if (!isJson(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => writePair(name, inner))
    .join(", ")} }`;
}

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
