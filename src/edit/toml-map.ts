import { type KeyPath, startsWith } from "./table.ts";

/** Where a key and its value stand in a text; `valueEnd` is behind the value. */
export interface TomlEntry {
  path: KeyPath;
  keyStart: number;
  valueStart: number;
  valueEnd: number;
  /** The header that it stands below, as a place in the list of headers; -1 above all. */
  header: number;
  /** The entry whose inline table it stands in. */
  within?: TomlEntry;
  isInlineTable: boolean;
}

/** A line such as `[questions]`; `end` is the end of that line, its comment included. */
export interface Header {
  path: KeyPath;
  start: number;
  end: number;
  isList: boolean;
}

/** Where everything of a TOML text stands. */
export interface TomlMap {
  entries: readonly TomlEntry[];
  headers: readonly Header[];
}

/** Finds where everything stands. The text has been parsed before: it is TOML. */
export function mapToml(text: string): TomlMap {
  return new Scanner(text).map();
}

/** The place that speaks of a key: its own, that of something in it, or that of the nearest table around it. */
export function findPlace(map: TomlMap, path: KeyPath): number | undefined {
  const places = [
    ...map.entries.map(({ path: own, keyStart }) => ({ own, start: keyStart })),
    ...map.headers.map(({ path: own, start }) => ({ own, start })),
  ];
  for (let length = path.length; length > 0; length -= 1) {
    const wanted = path.slice(0, length);
    const found = places.filter(({ own }) => startsWith(own, wanted)).sort((one, other) => one.start - other.start)[0];
    if (found) return found.start;
  }
  return undefined;
}

/** The line and column of a place, both counted from 1. */
export function lineAt(text: string, place: number): { line: number; column: number } {
  const before = text.slice(0, place).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").replace(/^\ufeff/, "").length + 1 };
}

class Scanner {
  readonly #text: string;
  readonly #entries: TomlEntry[] = [];
  readonly #headers: Header[] = [];
  readonly #lists = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  map(): TomlMap {
    if (this.#text.startsWith("\ufeff")) this.#at = 1;
    let table: KeyPath = [];
    for (;;) {
      this.#skip(/(?:[\s]+|#[^\n]*)*/y);
      if (this.#at >= this.#text.length) return { entries: this.#entries, headers: this.#headers };
      if (this.#text[this.#at] === "[") table = this.#readHeader();
      else this.#readEntry(table, undefined);
    }
  }

  #readHeader(): KeyPath {
    const start = this.#at;
    const isList = this.#text[start + 1] === "[";
    this.#at += isList ? 2 : 1;
    const named = this.#readKey();
    this.#skip(/[^\n]*?(?=\r?\n|$)/y);
    const path = isList ? [...named, this.#nextIn(named)] : named;
    this.#headers.push({ path, start, end: this.#at, isList });
    return path;
  }

  /** Tables of a list are told apart by their number. */
  #nextIn(path: KeyPath) {
    const key = JSON.stringify(path);
    const index = this.#lists.get(key) ?? 0;
    this.#lists.set(key, index + 1);
    return String(index);
  }

  #readEntry(table: KeyPath, within: TomlEntry | undefined) {
    const keyStart = this.#at;
    const path = [...table, ...this.#readKey()];
    this.#skip(/\s*=\s*/y);
    const valueStart = this.#at;
    const isInlineTable = this.#text[valueStart] === "{";
    const header = this.#headers.length - 1;
    const entry: TomlEntry = {
      path,
      keyStart,
      valueStart,
      valueEnd: valueStart,
      header,
      isInlineTable,
      ...(within && { within }),
    };
    this.#entries.push(entry);
    this.#readValue(entry);
    entry.valueEnd = this.#at;
  }

  #readKey() {
    const names: string[] = [];
    do {
      const [part = ""] = this.#skip(/\s*(?:"(?:\\.|[^"\\])*"|'[^']*'|[\w-]+)\s*/y);
      names.push(unquote(part.trim()));
    } while (this.#skip(/\./y)[0] === ".");
    return names;
  }

  #readValue(entry: TomlEntry | undefined): void {
    const first = this.#text[this.#at];
    if (this.#text.startsWith('"""', this.#at)) this.#skip(/"""(?:\\[\s\S]|(?!""")[^\\])*"{3,5}/y);
    else if (this.#text.startsWith("'''", this.#at)) this.#skip(/'''(?:(?!''')[\s\S])*'{3,5}/y);
    else if (first === '"') this.#skip(/"(?:\\.|[^"\\])*"/y);
    else if (first === "'") this.#skip(/'[^']*'/y);
    else if (first === "[") this.#readParts("]", () => this.#readValue(undefined));
    else if (first === "{") this.#readParts("}", () => (entry ? this.#readEntry(entry.path, entry) : this.#skipPair()));
    else this.#skip(/[^,\]}#\r\n]*?(?=\s*(?:[,\]}#\r\n]|$))/y);
  }

  /** Parses comma-separated values between brackets. */
  #readParts(close: string, readPart: () => void) {
    this.#at += 1;
    for (;;) {
      this.#skip(/(?:[\s,]+|#[^\n]*)*/y);
      if (this.#at >= this.#text.length) return;
      if (this.#text[this.#at] === close) break;
      readPart();
    }
    this.#at += 1;
  }

  #skipPair() {
    this.#readKey();
    this.#skip(/\s*=\s*/y);
    this.#readValue(undefined);
  }

  #skip(pattern: RegExp): readonly string[] {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? [""];
    this.#at += found[0].length;
    return found;
  }
}

function unquote(name: string) {
  if (name.startsWith("'")) return name.slice(1, -1);
  if (!name.startsWith('"')) return name;
  const json = name.replace(/\\U([0-9a-fA-F]{8})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  try {
    const text: unknown = JSON.parse(json);
    return String(text);
  } catch {
    return name.slice(1, -1); // an escape that only TOML knows
  }
}
