import { isDeepStrictEqual } from "node:util";
import { type Json, valueAt } from "../agents/json.ts";
import type { Client, Scope, Target, ClientSurroundings, DesiredConfig } from "../agents/wiring.ts";
import { type Format, editorFor } from "../edit/editor.ts";
import { type ConfigFile, findLock, readConfig, textOf } from "./config-file.ts";
import { renderSnippet, changesFor } from "./desired-config.ts";
import { type Change, Unfit, applyToValue } from "../edit/change.ts";

/** The kind of a change, which decides how it is undone. */
export type PlanStep =
  | { kind: "settings"; format: Format; changes: readonly Change[] }
  | { kind: "new" }
  | { kind: "block" };

/** The planned change of one file. */
export interface FilePlan {
  file: string;
  real: string;
  /** The clients that read it, in words. */
  titles: readonly string[];
  before: Buffer | undefined;
  /** The same as before where nothing is to be done. */
  after: Buffer | undefined;
  how: PlanStep;
  /** The differences, in words. */
  says: readonly string[];
  notes: readonly string[];
  /** Why the file is left alone, and what to put into it by hand. */
  problem?: { why: string; snippet: string };
}

/** A client and the scope in which it is to be wired. */
export interface PlanRequest {
  client: Client;
  scope: Scope;
}

/** Says whether the plan changes its file. */
export function isChange({ before, after, problem }: FilePlan): boolean {
  return problem === undefined && after !== undefined && !(before && before.equals(after));
}

/** Plans the changes that wire these clients. A file that several clients read is changed once. */
export async function planClients(wanted: readonly PlanRequest[], around: ClientSurroundings): Promise<FilePlan[]> {
  const byFile = new Map<string, Array<{ client: Client; target: Target }>>();
  for (const { client, scope } of wanted) {
    for (const target of client.targets(scope, around)) {
      byFile.set(target.file, [...(byFile.get(target.file) ?? []), { client, target }]);
    }
  }
  return Promise.all([...byFile].map(([file, parts]) => planFile(file, parts)));
}

async function planFile(file: string, parts: ReadonlyArray<{ client: Client; target: Target }>): Promise<FilePlan> {
  const format = parts[0]?.target.format ?? "json";
  const wishes = parts.flatMap(({ target }) => target.wishes);
  const plan = {
    file,
    real: file,
    before: undefined,
    after: undefined,
    says: [],
    titles: parts.map(({ client }) => client.title),
    notes: parts.flatMap(({ target }) => target.note ?? []),
    how: { kind: "settings" as const, format, changes: [] },
  };
  try {
    const config = await readConfig(file);
    const made = editFile(config, format, wishes);
    const lock = made.changes.length > 0 ? await findLock(config.real) : undefined;
    if (lock !== undefined) throw new Unfit(lock);
    const says = sayChanges(wishes, made.document);
    const how = { ...plan.how, changes: made.changes };
    return { ...plan, real: config.real, before: config.bytes, after: made.after, how, says };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { ...plan, problem: { why: error.message, snippet: renderSnippet(format, wishes) } };
  }
}

interface Edited {
  /** The current content of the file. */
  document: Json;
  changes: Change[];
  after: Buffer | undefined;
}

/** The file with all wishes in it; throws `Unfit` where that cannot be done without touching anything else. */
function editFile({ bytes }: ConfigFile, format: Format, wishes: readonly DesiredConfig[]): Edited {
  const editor = editorFor(format);
  const before = bytes === undefined ? "" : textOf(bytes);
  const document = editor.parse(before);
  const changes: Change[] = [];
  let text = before;
  let wanted = document;
  for (const wish of wishes) {
    for (const change of changesFor(wish, wanted)) {
      text = editor.apply(text, change);
      wanted = applyToValue(wanted, change);
      changes.push(change);
    }
  }
  if (!isDeepStrictEqual(plainOf(editor.parse(text)), plainOf(wanted))) {
    throw new Unfit("it is written in a way that cannot be changed without changing something else");
  }
  return { document, changes, after: changes.length === 0 ? bytes : Buffer.from(text) };
}

/** The parsers make objects of different kinds; only what they hold counts. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainOf(inner)]));
}

/** Fields that a person may care for; the others are only needed. */
const TELLING: ReadonlySet<string> = new Set(["alwaysLoad", "trust", "timeout", "tool_timeout_sec"]);

/** Describes the new and the updated settings of a file, one short line each. */
export function sayChanges(wishes: readonly DesiredConfig[], document: Json): string[] {
  const servers = wishes.flatMap((wish) => (wish.is === "server" ? sayServer(wish, document) : []));
  const allowed = wishes.flatMap((wish) =>
    wish.is === "allow" && changesFor(wish, document).length > 0 ? [wish.text] : [],
  );
  const hooks = wishes.flatMap((wish) => (wish.is === "hook" ? sayHook(wish.path, changesFor(wish, document)) : []));
  return [...new Set([...servers, ...(allowed.length > 0 ? [`+ allow ${allowed.join(", ")}`] : []), ...hooks])];
}

function sayServer(wish: Extract<DesiredConfig, { is: "server" }>, document: Json): string[] {
  const changes = changesFor(wish, document);
  if (changes.length === 0) return [];
  // The folder of a project that stands in the path is left out: it is where the person is.
  const name = wish.path.filter((step) => !/[/\\]/.test(step) && step !== "projects").join(".");
  const fields = Object.entries(wish.fields).filter(([field, { when }]) => TELLING.has(field) && when !== "raise");
  if (valueAt(document, ...wish.path) === undefined) return [`+ ${[name, ...fields.map(sayField)].join(", ")}`];
  return [`~ ${name}: ${changes.map(({ path }) => path.at(-1)).join(", ")}`];
}

function sayField([name, { value }]: [string, { value: unknown }]): string {
  return typeof value === "number" ? `${name} ${value}` : name;
}

function sayHook(path: readonly string[], changes: readonly Change[]): string[] {
  if (changes.length === 0) return [];
  return [changes.some((change) => change.do === "append") ? `+ hook ${path.at(-1)}` : `~ hook ${path.at(-1)}`];
}
