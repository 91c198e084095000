import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { Refusal } from "../core/refusal.ts";
import { type Path, type Table, isSame, isTable, leavesOf, sayKey, startsWith, valueAt, withValue } from "./key.ts";
import { type Entry, type TomlMap, mapToml } from "../edit/toml-map.ts";

/** A TOML text with one value set; every other byte stays as it is. `written` is the value as TOML. */
export function setInToml(text: string, path: Path, written: string): string {
  const map = mapToml(text);
  const edited = set(text, map, path, written);
  const value = valueAt(parse(`value = ${written}`), ["value"]);
  return requireSame(edited, withValue(tableOf(text), path, value), path);
}

/** A TOML text without one value or table; every other byte stays as it is. The same text if it is not there. */
export function unsetInToml(text: string, path: Path): string {
  return requireSame(cut(text, path), withValue(tableOf(text), path, undefined), path);
}

/** A table goes with all that is in it, and with its headers. */
function cut(text: string, path: Path): string {
  const map = mapToml(text);
  const own = findEntry(map, path) ?? map.entries.find((entry) => startsWith(entry.path, path));
  if (own) return cut(own.within ? cutInline(text, map, own) : cutLines(text, own.keyStart, own.valueEnd), path);
  const header = map.headers.find((one) => startsWith(one.path, path));
  return header ? cut(cutLines(text, header.start, header.end), path) : text;
}

function set(text: string, map: TomlMap, path: Path, written: string): string {
  const own = findEntry(map, path);
  if (own) return text.slice(0, own.valueStart) + written + text.slice(own.valueEnd);
  const inline = map.entries.find((entry) => entry.isInlineTable && startsWith(path, entry.path));
  if (inline) return addInline(text, map, inline, `${sayKey(path.slice(inline.path.length))} = ${written}`);
  const parent = path.slice(0, -1);
  const header = map.headers.findLastIndex((one) => !one.isList && isSame(one.path, parent));
  if (header >= 0 || parent.length === 0) return addBelow(text, map, header, `${sayKey(path.slice(-1))} = ${written}`);
  return addBeside(text, map, path, written) ?? addTable(text, path, written);
}

function findEntry({ entries }: TomlMap, path: Path): Entry | undefined {
  return entries.find((entry) => isSame(entry.path, path));
}

/** Into `{ … }`, behind what is there. */
function addInline(text: string, map: TomlMap, table: Entry, pair: string): string {
  const last = map.entries.findLast((entry) => entry.within === table);
  if (!last) return `${text.slice(0, table.valueStart)}{ ${pair} }${text.slice(table.valueEnd)}`;
  return `${text.slice(0, last.valueEnd)}, ${pair}${text.slice(last.valueEnd)}`;
}

/** As a line of its own below a header, or above all headers. */
function addBelow(text: string, map: TomlMap, header: number, line: string): string {
  const last = map.entries.findLast((entry) => entry.header === header && !entry.within);
  const end = last ? lineEnd(text, last.valueEnd) : (map.headers[header]?.end ?? startOfKeys(text));
  return addLine(text, end, line);
}

/** Beside a sibling that is written with dots: such a table cannot have a header. */
function addBeside(text: string, map: TomlMap, path: Path, written: string): string | undefined {
  const sibling = map.entries.findLast(({ path: own, header, within }) => {
    const base = map.headers[header]?.path ?? [];
    const dotted = own.slice(0, -1);
    return !within && dotted.length > base.length && startsWith(path, dotted) && startsWith(dotted, base);
  });
  if (!sibling) return undefined;
  const base = map.headers[sibling.header]?.path ?? [];
  return addLine(text, lineEnd(text, sibling.valueEnd), `${sayKey(path.slice(base.length))} = ${written}`);
}

/** As a new table at the end. */
function addTable(text: string, path: Path, written: string): string {
  const newline = newlineOf(text);
  const before = text === "" || text === "\ufeff" ? "" : text.endsWith("\n") ? newline : newline + newline;
  return `${text}${before}[${sayKey(path.slice(0, -1))}]${newline}${sayKey(path.slice(-1))} = ${written}${newline}`;
}

function addLine(text: string, end: number, line: string): string {
  const newline = newlineOf(text);
  const isFirst = end === 0 || (end === 1 && text.startsWith("\ufeff"));
  if (isFirst) return `${text.slice(0, end)}${line}${newline}${text.slice(end)}`;
  const isLast = end === text.length;
  return `${text.slice(0, end)}${newline}${line}${isLast ? newline : ""}${text.slice(end)}`;
}

/** Keys above all tables come behind the comment that a file begins with. */
function startOfKeys(text: string): number {
  const comment = /^\ufeff?(?:#[^\n]*(?:\n(?=#)|$|(?=\r?\n)))*/.exec(text)?.[0] ?? "";
  return comment.replace(/[\r\n]+$/, "").length;
}

/** The whole lines of an entry, with the comment behind it. */
function cutLines(text: string, from: number, to: number): string {
  const start = from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1;
  const mark = start === 0 && text.startsWith("\ufeff") ? 1 : 0;
  const end = lineEnd(text, to);
  const newline = /^\r?\n/.exec(text.slice(end, end + 2))?.[0].length ?? 0;
  return text.slice(0, start + mark) + text.slice(end + newline);
}

/** One pair of `{ … }`, with the comma that parted it from the next one, or from the one before. */
function cutInline(text: string, map: TomlMap, entry: Entry): string {
  const siblings = map.entries.filter(({ within }) => within === entry.within);
  const index = siblings.indexOf(entry);
  const next = siblings[index + 1];
  const previous = siblings[index - 1];
  if (next) return text.slice(0, entry.keyStart) + text.slice(next.keyStart);
  if (previous) return text.slice(0, previous.valueEnd) + text.slice(entry.valueEnd);
  return text.slice(0, entry.keyStart) + text.slice(entry.valueEnd).replace(/^\s*,/, "");
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  if (end < 0) return text.length;
  return text[end - 1] === "\r" ? end - 1 : end;
}

function newlineOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function tableOf(text: string): Table {
  const table: unknown = parse(text);
  return isTable(table) ? table : {};
}

/** Better no change than a wrong one: the new text has to say exactly what was wanted. */
function requireSame(text: string, wanted: Table, path: Path): string {
  if (isSaying(text, wanted)) return text;
  throw new Refusal("bad_input", `${sayKey(path)} cannot be changed without touching other lines`, {
    hint: "Change it yourself with: askd config edit",
  });
}

function isSaying(text: string, wanted: Table): boolean {
  try {
    return isDeepStrictEqual(sorted(tableOf(text)), sorted(wanted));
  } catch {
    return false; // it is no TOML any more
  }
}

/** All values by their keys; tables that hold nothing do not count. */
function sorted(table: Table): unknown[] {
  return leavesOf(table)
    .map(({ path, value }) => [JSON.stringify(path), value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
