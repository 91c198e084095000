import type { Argv, DesiredConfig, DesiredField, DesiredHook, DesiredServer } from "../agents/wiring.ts";
import { type Json, isJson, valueAt } from "../agents/json.ts";
import { type Change, Unfit } from "../edit/change.ts";
import { quoteLine, splitLine, splitShellLine } from "./command-line.ts";
import { type Format, editorFor } from "../edit/editor.ts";

/** The changes that make the document match; none if it does. */
export function changesFor(wish: DesiredConfig, document: Json): Change[] {
  if (wish.is === "server") return changesForServer(wish, document);
  const list = valueAt(document, ...wish.path);
  if (list !== undefined && !Array.isArray(list)) throw new Unfit(`${wish.path.join(".")} is not a list`);
  if (wish.is === "hook") return changesForHook(wish, list ?? []);
  return list?.includes(wish.text) ? [] : [{ do: "append", path: wish.path, value: wish.text }];
}

/** The command line of a server entry, whichever way the client writes it. */
export function lineOf(entry: Json, { command, args }: DesiredServer["line"]): string[] | undefined {
  const first = entry[command];
  const rest: unknown = args === undefined ? [] : (entry[args] ?? []);
  const words: unknown = args === undefined ? first : Array.isArray(rest) ? [first].concat(rest) : undefined;
  return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
}

/** A new entry as a client wants it. */
export function freshEntry({ argv, line, fields }: DesiredServer): Json {
  const named = (isFirst: boolean) =>
    Object.entries(fields)
      .filter(([, { when }]) => when !== "raise" && (when === "fresh") === isFirst)
      .map(([name, { value }]) => [name, value] as const);
  return Object.fromEntries([...named(true), ...Object.entries(writeLine(argv, line)), ...named(false)]);
}

function changesForServer(wish: DesiredServer, document: Json): Change[] {
  requireTables(wish.path, document);
  const entry = valueAt(document, ...wish.path);
  if (entry === undefined) return [{ do: "set", path: wish.path, value: freshEntry(wish) }];
  if (!isJson(entry)) throw new Unfit(`${wish.path.join(".")} is not a table`);
  const set = (name: string, value: unknown): Change => ({ do: "set", path: [...wish.path, name], value });
  const known = splitLine(lineOf(entry, wish.line) ?? []);
  // Words behind the command are the user's own; a server that is started in another way, or reached by address, too.
  const words = known && [...wish.argv.slice(0, -1), ...(known.rest.length > 0 ? known.rest : ["mcp"])];
  const line = words ? Object.entries(writeLine(words, wish.line)) : [];
  return [
    ...line.filter(([name, value]) => JSON.stringify(entry[name]) !== JSON.stringify(value)),
    ...Object.entries(wish.fields)
      .filter(([name, field]) => isDue(entry[name], field))
      .map(([name, { value }]) => [name, value] as const),
  ].map(([name, value]) => set(name, value));
}

function writeLine(argv: Argv, { command, args }: DesiredServer["line"]): Record<string, unknown> {
  return args === undefined ? { [command]: [...argv] } : { [command]: argv[0], [args]: argv.slice(1) };
}

function isDue(now: unknown, { value, when }: DesiredField): boolean {
  if (when === "fresh") return false;
  if (now === undefined) return when !== "raise";
  return when !== "absent" && typeof now === "number" && typeof value === "number" && now < value;
}

/** Every value on the way must be a table: a client would not read settings below anything else. */
function requireTables(path: readonly string[], document: Json): void {
  for (const length of path.keys()) {
    const value = valueAt(document, ...path.slice(0, length));
    if (value !== undefined && value !== null && !isJson(value)) {
      throw new Unfit(`${path.slice(0, length).join(".") || "the file"} is not a table`);
    }
  }
}

/** A hook of ours where it stands: the group, the hook in it, and the words of its command. */
export interface HookSeen {
  at: [group: number, hook: number];
  matcher: unknown;
  command: string;
  timeout: unknown;
}

/** Every hook in a list that is a hook of askd for this client. */
export function hooksOf(list: readonly unknown[], client: string): HookSeen[] {
  return list.flatMap((group, index) => {
    const hooks = isJson(group) && Array.isArray(group["hooks"]) ? group["hooks"] : [];
    return hooks.flatMap((hook: unknown, inner): HookSeen[] => {
      const command = isJson(hook) ? hook["command"] : undefined;
      if (!isJson(group) || !isJson(hook) || typeof command !== "string") return [];
      if (splitShellLine(command, client) === undefined) return [];
      return [{ at: [index, inner], matcher: group["matcher"], command, timeout: hook["timeout"] }];
    });
  });
}

/** The name by which a hook of ours is told its client: the word behind `hook`. */
export function hookClient({ argv }: DesiredHook): string {
  return argv[argv.indexOf("hook") + 1] ?? "";
}

function changesForHook(wish: DesiredHook, list: readonly unknown[]): Change[] {
  const client = hookClient(wish);
  const seen = hooksOf(list, client).find(({ matcher }) => matcher === wish.matcher);
  if (!seen) {
    const timeout = wish.timeout && { timeout: wish.timeout.value };
    const hook = { type: "command", command: quoteLine(wish.argv), ...timeout };
    return [{ do: "append", path: wish.path, value: { matcher: wish.matcher, hooks: [hook] } }];
  }
  const at = [...wish.path, seen.at[0], "hooks", seen.at[1]];
  const isShort = wish.timeout !== undefined && typeof seen.timeout === "number" && seen.timeout < wish.timeout.value;
  const command = renewHook(seen.command, wish, isShort);
  return [
    ...(command === seen.command ? [] : [{ do: "set" as const, path: [...at, "command"], value: command }]),
    ...(isShort ? [{ do: "set" as const, path: [...at, "timeout"], value: wish.timeout?.value }] : []),
  ];
}

/** The same words behind another start; what it says of its own timeout changes with the timeout. */
function renewHook(command: string, wish: DesiredHook, isShort: boolean): string {
  const words = splitShellLine(command, hookClient(wish))?.rest ?? "";
  const start = quoteLine(wish.argv.slice(0, wish.argv.indexOf("hook")));
  const told = wish.argv[wish.argv.indexOf("--timeout") + 1];
  const rest = isShort && told !== undefined ? words.replace(/--timeout[= ]\S+/, `--timeout ${told}`) : words;
  return `${start} ${rest}`;
}

/** The text of a settings file with all of this in it. */
export function renderSettings(base: string, format: Format, wishes: readonly DesiredConfig[]): string {
  const editor = editorFor(format);
  let text = base;
  for (const wish of wishes) {
    for (const change of changesFor(wish, editor.parse(text))) text = editor.apply(text, change);
  }
  return text;
}

/** Renders the text to put into a file by hand: a whole file with these settings only. */
export function renderSnippet(format: Format, wishes: readonly DesiredConfig[]): string {
  const text = renderSettings("", format, wishes);
  return text.endsWith("\n") ? text : `${text}\n`;
}
