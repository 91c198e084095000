import { parse } from "smol-toml";
import { type Json, isJson } from "../agents/json.ts";
import { type Path, isSame, sayKey, startsWith } from "../config/key.ts";
import { type Entry, type TomlMap, mapToml } from "../edit/toml-map.ts";
import type { Editor } from "../edit/editor.ts";
import { layoutOf, splice } from "../edit/layout.ts";
import { type Change, Unfit } from "./desired-config.ts";

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
  const map = mapToml(text);
  const path = change.path.map(String);
  if (change.do === "remove") return remove(text, map, path);
  if (change.do === "append") throw new Unfit(`${path.join(".")} is no table of ours`);
  const pair = findPair(map, path);
  if (pair) return splice(text, pair.valueStart, pair.valueEnd, writeValue(change.value));
  if (isJson(change.value)) return appendTable(text, path, change.value);
  return insertPair(text, map, path, change.value);
}

/** A key with a line of its own: what stands in an inline table is not ours. */
function findPair({ entries }: TomlMap, path: Path): Entry | undefined {
  return entries.find((entry) => !entry.within && isSame(entry.path, path));
}

/** A new table at the end: whatever comes before, it can stand there. */
function appendTable(text: string, path: Path, value: Json): string {
  const { eol } = layoutOf(text);
  const gap = text === "" ? "" : /\n\s*\n$/.test(text) ? "" : text.endsWith("\n") ? eol : eol + eol;
  const pairs = Object.entries(value).map(([name, inner]) => writePair(name, inner));
  return `${text}${gap}${[`[${sayKey(path)}]`, ...pairs].join(eol)}${eol}`;
}

function insertPair(text: string, map: TomlMap, path: Path, value: unknown): string {
  const table = path.slice(0, -1);
  const header = map.headers.findIndex((one) => !one.isList && isSame(one.path, table));
  if (header < 0) throw new Unfit(`${table.join(".")} is not written as a table of its own`);
  const at = endOfLine(text, endOfTable(map, header));
  const { eol } = layoutOf(text);
  return splice(text, at, at, `${eol}${writePair(path.at(-1) ?? "", value)}`);
}

/** A table goes with those below it and the blank line before it; a pair goes with its line. */
function remove(text: string, map: TomlMap, path: Path): string {
  const pair = findPair(map, path);
  const header = map.headers.findIndex((one) => startsWith(one.path, path));
  const start = pair?.keyStart ?? map.headers[header]?.start;
  if (start === undefined) return text;
  const line = text.lastIndexOf("\n", start - 1) + 1;
  const blank = pair ? 0 : (/(?:(?<=^|\n)[ \t]*\r?\n)$/.exec(text.slice(0, line))?.[0].length ?? 0);
  const end = pair?.valueEnd ?? endOfTable(map, header);
  const rest = splice(text, line - blank, startOfNext(text, end), "");
  return remove(rest, mapToml(rest), path);
}

/** Where the last key below a header ends, or the header where there is none. */
function endOfTable({ entries, headers }: TomlMap, header: number): number {
  const last = entries.findLast((entry) => entry.header === header && !entry.within);
  return last?.valueEnd ?? headers[header]?.end ?? 0;
}

function endOfLine(text: string, at: number): number {
  return at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);
}

function startOfNext(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function writePair(name: string, value: unknown): string {
  return `${sayKey([name])} = ${writeValue(value)}`;
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
