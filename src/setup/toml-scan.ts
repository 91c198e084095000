/** One line or more of a TOML text: the head of a table, or a key with its value. */
export interface Statement {
  is: "table" | "list" | "pair";
  /** From the top, the names of the table included. */
  path: string[];
  start: number;
  end: number;
  /** Where the value of a pair begins; it ends where the statement does. */
  valueAt: number;
}

const SPACE = /(?:\s|#[^\n]*)*/y;
const NAME = /\s*(?:([\w-]+)|"((?:\\.|[^"\\])*)"|'([^']*)')\s*/y;
const STRING = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/y;

/** Where the statements of a text are. The text has been read before: what is no TOML is not looked for. */
export function scanToml(text: string): Statement[] {
  const statements: Statement[] = [];
  let table: string[] = [];
  for (let at = skip(text, 0); at < text.length;) {
    const statement = text[at] === "[" ? scanHead(text, at) : scanPair(text, at, table);
    if (statement.end <= at) throw new Error(`No statement begins at ${at}`);
    if (statement.is !== "pair") table = statement.path;
    statements.push(statement);
    at = skip(text, statement.end);
  }
  return statements;
}

function scanHead(text: string, start: number): Statement {
  const isList = text.startsWith("[[", start);
  const { path, end } = scanKey(text, start + (isList ? 2 : 1));
  return { is: isList ? "list" : "table", path, start, end: end + (isList ? 2 : 1), valueAt: end };
}

function scanPair(text: string, start: number, table: readonly string[]): Statement {
  const { path, end } = scanKey(text, start);
  const valueAt = end + 1 + (/^[ \t]*/.exec(text.slice(end + 1))?.[0].length ?? 0);
  return { is: "pair", path: [...table, ...path], start, end: scanValue(text, valueAt), valueAt };
}

function scanKey(text: string, start: number): { path: string[]; end: number } {
  const path: string[] = [];
  for (let at = start; ; at += 1) {
    const found = match(NAME, text, at);
    if (!found) return { path, end: at };
    const [whole, bare, basic, literal] = found;
    path.push(bare ?? literal ?? unescape(basic ?? ""));
    at += whole.length;
    if (text[at] !== ".") return { path, end: at };
  }
}

function scanValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const string = match(STRING, text, at);
    const character = text[at] ?? "";
    if (string) at += string[0].length;
    else if (character === "#" && depth > 0) at = skip(text, at);
    else if (depth === 0 && /[#\n]/.test(character)) break;
    else {
      if (/[[{]/.test(character)) depth += 1;
      if (/[\]}]/.test(character)) depth -= 1;
      at += 1;
    }
  }
  return start + text.slice(start, at).trimEnd().length;
}

function skip(text: string, at: number): number {
  return at + (match(SPACE, text, at)?.[0].length ?? 0);
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function unescape(name: string): string {
  try {
    const value: unknown = JSON.parse(`"${name}"`);
    return String(value);
  } catch {
    return name; // an escape that only TOML knows: no name of ours has one
  }
}
