import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { findProgram } from "../agents/runner/launch.ts";
import { type Json, isJson, valueAt } from "../agents/json.ts";
import {
  type ClientSurroundings,
  type Client,
  SCOPES,
  type Scope,
  type Argv,
  type DesiredHook,
  type DesiredServer,
  type DesiredConfig,
} from "../agents/wiring.ts";
import { shellWords, splitLine, splitShellLine } from "./command-line.ts";
import { readConfig, textOf } from "./config-file.ts";
import { type Format, editorFor } from "../edit/editor.ts";
import { changesFor, hookClient, hooksOf, lineOf } from "./desired-config.ts";
import { Unfit } from "../edit/change.ts";

/** A hook of ours that stands in the settings of a client. */
export interface HookFinding {
  file: string;
  event: string;
  matcher: string;
  command: string;
  /** Says whether everything is there that the command names. */
  exists: boolean;
  /** Nothing where the client's own default holds. */
  timeoutMs: number | undefined;
}

/** The askd settings of a client in one scope. */
export interface Findings {
  scope: Scope;
  file: string;
  /** The command of our server, or its address. */
  serverCommand: Argv | undefined;
  serverUrl: string | undefined;
  /** Says whether everything is there that the command names; an address is not looked at. */
  serverExists: boolean;
  /** Variables that the client adds to the environment of the server. */
  serverEnv: Readonly<Record<string, string>>;
  /** Says whether the command starts askd, as far as one can tell. */
  isOwnCommand: boolean;
  /** Undefined for clients that know no such thing. */
  alwaysLoad: boolean | undefined;
  allowRules: { wanted: readonly string[]; missing: readonly string[] };
  /** Hooks that are wanted and not there, by their event. */
  hooks: readonly HookFinding[];
  missingHooks: readonly string[];
  /** How long one call may take: as configured, or the client's default; undefined where nobody knows. */
  timeoutMs: number | undefined;
  isTimeoutSet: boolean;
  /** The client's name for that limit. */
  timeoutField: string | undefined;
  /** Progress extends the limit that is set there. */
  isTimeoutExtended: boolean;
  /** Files of this scope that cannot be read, and why. */
  problems: ReadonlyArray<{ file: string; why: string }>;
  /** Says whether init would change nothing in this scope. */
  isCurrent: boolean;
}

/** Looks at a client's settings in every scope; only scopes that know our server, or cannot be read, are returned. */
export async function inspect(client: Client, around: ClientSurroundings): Promise<Findings[]> {
  const found: Findings[] = [];
  for (const scope of SCOPES) {
    const findings = await inspectScope(client, scope, around);
    const isNew = found.every(({ file }) => file !== findings.file);
    const hasServer = findings.serverCommand !== undefined || findings.serverUrl !== undefined;
    if (isNew && (hasServer || findings.problems.length > 0)) found.push(findings);
  }
  return found;
}

interface InspectedFile<Kind extends DesiredConfig = DesiredConfig> {
  file: string;
  wish: Kind;
  document: Json;
}

/** Reads the settings of one scope, with or without our server. */
export async function inspectScope(client: Client, scope: Scope, around: ClientSurroundings): Promise<Findings> {
  const problems: Array<{ file: string; why: string }> = [];
  const seen: InspectedFile[] = [];
  const targets = client.targets(scope, around);
  for (const { file, format, wishes } of targets) {
    try {
      const { bytes } = await readConfig(file);
      const document = editorFor(format).parse(bytes ? textOf(bytes) : "");
      seen.push(...wishes.map((wish) => ({ file, wish, document })));
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      problems.push({ file, why: error.message });
    }
  }
  const hooks = await Promise.all(seen.filter(isOf("hook")).flatMap((one) => findHooks(one, around)));
  return {
    scope,
    file: targets[0]?.file ?? "",
    problems,
    hooks,
    ...(await readServer(seen.find(isOf("server")), around)),
    allowRules: readRules(seen.filter(isOf("allow"))),
    missingHooks: seen
      .filter(isOf("hook"))
      .flatMap((one) => (listOf(one).length > 0 ? [] : [one.wish.path.at(-1) ?? ""])),
    isCurrent: problems.length === 0 && seen.every(({ wish, document }) => !isDue(wish, document)),
  };
}

/** The value of one setting in a client's file; undefined if it is not there, or the file cannot be read. */
export async function readSetting(file: string, format: Format, name: string): Promise<unknown> {
  try {
    const { bytes } = await readConfig(file);
    return valueAt(editorFor(format).parse(bytes ? textOf(bytes) : ""), name);
  } catch (error) {
    if (error instanceof Unfit) return undefined; // which is a finding by itself
    throw error;
  }
}

function isOf<Kind extends DesiredConfig["is"]>(kind: Kind) {
  return (one: InspectedFile): one is InspectedFile<Extract<DesiredConfig, { is: Kind }>> => one.wish.is === kind;
}

async function readServer(one: InspectedFile<DesiredServer> | undefined, around: ClientSurroundings) {
  const entry = one && valueAt(one.document, ...one.wish.path);
  const known: Json = isJson(entry) ? entry : {};
  const line = one && lineOf(known, one.wish.line);
  const url = known["url"] ?? known["httpUrl"] ?? known["serverUrl"];
  const { field = "", unitMs = 1, defaultMs } = one?.wish.timeout ?? {};
  const own = known[field];
  return {
    serverCommand: line,
    serverUrl: typeof url === "string" ? url : undefined,
    serverExists: line !== undefined && (await isThere(line, around)),
    isOwnCommand: line !== undefined && splitLine(line) !== undefined,
    alwaysLoad: one?.wish.fields["alwaysLoad"] ? known["alwaysLoad"] === true : undefined,
    timeoutMs: typeof own === "number" ? own * unitMs : defaultMs,
    isTimeoutSet: typeof own === "number",
    timeoutField: one?.wish.timeout?.field,
    isTimeoutExtended: one?.wish.timeout?.isExtended ?? false,
    serverEnv: textsOf(known["env"] ?? known["environment"] ?? known["envs"]),
  };
}

function textsOf(value: unknown): Record<string, string> {
  const texts = Object.entries(isJson(value) ? value : {});
  return Object.fromEntries(texts.flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}

function readRules(
  rules: ReadonlyArray<InspectedFile<Extract<DesiredConfig, { is: "allow" }>>>,
): Findings["allowRules"] {
  const missing = rules.filter(({ wish, document }) => isDue(wish, document));
  return { wanted: rules.map(({ wish }) => wish.text), missing: missing.map(({ wish }) => wish.text) };
}

function listOf({ wish, document }: InspectedFile<DesiredHook>) {
  const list = valueAt(document, ...wish.path);
  return hooksOf(Array.isArray(list) ? list : [], hookClient(wish));
}

function findHooks(one: InspectedFile<DesiredHook>, around: ClientSurroundings): Array<Promise<HookFinding>> {
  const client = hookClient(one.wish);
  return listOf(one).map(async ({ matcher, command, timeout }) => ({
    file: one.file,
    event: one.wish.path.at(-1) ?? "",
    matcher: typeof matcher === "string" ? matcher : "",
    command,
    exists: await isThere(shellWords(splitShellLine(command, client)?.start ?? ""), around),
    timeoutMs: typeof timeout === "number" ? timeout * (one.wish.timeout?.unitMs ?? 1) : undefined,
  }));
}

/** The program, and every absolute path among its first words, as a client would start it. */
async function isThere(argv: Argv, { env, dir }: ClientSurroundings): Promise<boolean> {
  const [program = "", ...rest] = splitLine(argv)?.start ?? argv.slice(0, 1);
  const isFound = (await findProgram(program, env, dir)) !== undefined;
  return isFound && rest.filter((word) => isAbsolute(word)).every((word) => existsSync(word));
}

function isDue(wish: DesiredConfig, document: Json): boolean {
  try {
    return changesFor(wish, document).length > 0;
  } catch (error) {
    if (error instanceof Unfit) return true;
    throw error;
  }
}
