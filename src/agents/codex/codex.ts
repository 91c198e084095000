import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { NEEDS_INPUT, howToAskByResult } from "../../core/run/how-to-ask.ts";
import {
  type Agent,
  type Evidence,
  type ParsedArgs,
  type RecordedSession,
  type SessionSearch,
  type AgentEvent,
  type Start,
  type Task,
  type Witnessed,
  messageOf,
} from "../agent.ts";
import { type Json, numberAt, textAt, wordsAt, readJsonLine } from "../json.ts";
import { type OptionTable, type Piece, findOption, parsePieces, withoutOptions, writePieces } from "../options.ts";
import { OWN_VARIABLES, SERVER, startWithServer, patienceSeconds, serverArgv } from "../mcp-config.ts";
import { findFiles, readMatchingRecords, searchRecords } from "../runner/transcript-search.ts";

/** Sessions lie in folders by year, month and day. */
const SESSION_DEPTH = 3;
const CALLS = new Set(["mcp_tool_call", "command_execution", "file_change", "web_search"]);

const OPTIONS: OptionTable = [
  ["one", "--config", "-c"],
  ["many", "--image", "-i"],
  ["one", "--model", "-m"],
  ["one", "--profile", "-p"],
  ["one", "--sandbox", "-s"],
  ["one", "--ask-for-approval", "-a"],
  ["one", "--cd", "-C"],
  ["one", "--output-last-message", "-o"],
  ...[
    "--enable",
    "--disable",
    "--local-provider",
    "--add-dir",
    "--thread-source",
    "--cyber-access-program",
    "--output-schema",
    "--color",
  ].map((name) => ["one", name] as const),
];

/** Codex without its terminal. Its MCP servers get a scrubbed environment, so they are told the run by a file. */
export const codex: Agent = {
  name: "codex",
  program: "codex",
  parseArgs,
  start(task) {
    const { before, options, words } = takeApart(task.args);
    const stdin = promptOf(task, options);
    return { ...build(task, before, options, [...words, ...(stdin === undefined ? [] : ["-"])]), stdin };
  },
  resume(task, how) {
    const { before, options } = takeApart(task.args);
    // Options of the first prompt, and options that choose a session, are left out.
    const kept = withoutOptions(options, "--last", "--all", "--image", "--worktree");
    const start = build(task, before, kept, ["resume", task.session, "-"]);
    return { ...start, stdin: messageOf(how), session: task.session };
  },
  read: (line) => readJsonLine(line, readCodex),
  witness,
  findSessions,
  takeover: (session, program) => [program, "resume", session],
};

/** The prompt; where the result has a schema with our status, it says how to ask by it. */
function promptOf({ prompt, dir }: Task, options: readonly Piece[]): string | undefined {
  const schema = findOption(options, "--output-schema");
  if (prompt === undefined || schema === undefined) return prompt;
  return isNamedIn(resolve(dir, schema)) ? `${prompt}\n\n${howToAskByResult()}` : prompt;
}

function isNamedIn(file: string): boolean {
  try {
    return readFileSync(file, "utf8").includes(NEEDS_INPUT);
  } catch {
    return false; // Codex itself complains
  }
}

/** The prompt is the last word that is no command and no session. */
function parseArgs(args: readonly string[]): ParsedArgs {
  const pieces = parsePieces(args, OPTIONS);
  const words = pieces.filter((piece) => piece.kind === "word");
  const commands = isExec(words[0]?.word) ? 1 : 0;
  const isResumed = words[commands]?.word === "resume";
  const hasLast = findOption(pieces, "--last") !== undefined;
  const prompt = words[commands + (isResumed ? (hasLast ? 1 : 2) : 0)];
  return {
    args: writePieces(pieces.filter((piece) => piece !== prompt)),
    prompt: prompt?.word === "-" ? undefined : prompt?.word,
  };
}

/** Options before `exec` stay there: some are known only to the program, some only to the command. */
export function takeApart(args: readonly string[]): { before: Piece[]; options: Piece[]; words: string[] } {
  const pieces = parsePieces(args, OPTIONS);
  const at = pieces.findIndex((piece) => piece.kind === "word" && isExec(piece.word));
  const rest = pieces.slice(at + 1);
  return {
    before: at < 0 ? [] : pieces.slice(0, at),
    options: rest.filter((piece) => piece.kind === "option"),
    words: rest.flatMap((piece) => (piece.kind === "word" ? [piece.word] : [])),
  };
}

function isExec(word: string | undefined): boolean {
  return word === "exec" || word === "e";
}

function build(task: Task, before: readonly Piece[], options: readonly Piece[], words: readonly string[]): Start {
  const isJson = findOption(options, "--json") !== undefined;
  const own = [...writePieces(before), "exec", ...writePieces(options)];
  return {
    argv: [task.program, ...own, ...(isJson ? [] : ["--json"]), "--config", serverConfig(task), ...words],
    ...startWithServer(task),
    stdin: undefined,
    session: undefined,
    prints: isJson ? "lines" : "words",
    added: [
      ...(task.args.some(isExec) ? [] : ["exec, because nobody sits at it"]),
      ...(isJson ? [] : ["--json, to see what it does"]),
      `the tools of ${SERVER}`,
      ...(findOption(options, "--ephemeral") === undefined ? [] : ["nothing can resume it, because of --ephemeral"]),
    ],
  };
}

/** Its own 10 s are too short on a busy machine, and without our tools the agent could not ask. */
export const STARTUP_S = 60;

/** One table, so that a server of that name in the user's configuration is replaced, not mixed. */
export function serverConfig(task: Task): string {
  const [command, ...args] = serverArgv(task);
  const fields = [
    `command=${JSON.stringify(command)}`,
    `args=${JSON.stringify(args)}`,
    `env_vars=${JSON.stringify(OWN_VARIABLES)}`,
    'default_tools_approval_mode="approve"',
    `tool_timeout_sec=${patienceSeconds(task)}`,
    `startup_timeout_sec=${STARTUP_S}`,
    // Without it Codex waits about a second for a server, then starts without its tools, and could not ask.
    "required=true",
  ];
  return `mcp_servers.${SERVER}={${fields.join(",")}}`;
}

/** Says what one line of `codex exec --json` shows. */
export function readCodex(line: Json): AgentEvent[] {
  switch (line["type"]) {
    case "thread.started": {
      const session = textAt(line, "thread_id");
      return session ? [{ kind: "session", session }] : [];
    }
    case "item.started":
    case "item.completed":
      return readItem(line["item"], line["type"] === "item.completed");
    case "turn.completed":
      return [
        { kind: "usage", usage: readUsage(line) },
        { kind: "ended", result: { status: "completed" } },
      ];
    case "turn.failed": {
      const summary = textAt(line, "error", "message");
      return [{ kind: "ended", result: { status: "failed", reason: "agent_error", ...(summary && { summary }) } }];
    }
    case "error":
      return [{ kind: "warning", text: textAt(line, "message") ?? "an error without words" }];
    default:
      return [];
  }
}

function readItem(item: unknown, isDone: boolean): AgentEvent[] {
  const type = textAt(item, "type") ?? "";
  if (type === "agent_message")
    return isDone ? [{ kind: "text", text: textAt(item, "text") ?? "", isPiece: false }] : [];
  // Items of this type only warn; a failure has a line of its own.
  if (type === "error") return isDone ? [{ kind: "warning", text: textAt(item, "message") ?? "" }] : [];
  const callId = textAt(item, "id");
  if (!CALLS.has(type) || callId === undefined) return [];
  const tool = textAt(item, "tool");
  if (!isDone) return [{ kind: "called", callId, name: tool ? `mcp__${textAt(item, "server")}__${tool}` : type }];
  const text =
    textAt(item, "error", "message") ?? textAt(item, "aggregated_output") ?? wordsAt(item, "result", "content");
  return [{ kind: "shown", callId, isError: textAt(item, "status") !== "completed", text }];
}

/** Codex counts from the beginning of the thread, over all resumes. */
function readUsage(line: Json): { since: "session"; inputTokens?: number; outputTokens?: number } {
  return {
    since: "session",
    inputTokens: numberAt(line, "usage", "input_tokens"),
    outputTokens: numberAt(line, "usage", "output_tokens"),
  };
}

/** Looks into the thread's rollout. */
async function witness({ session, env, answerId }: Evidence): Promise<Witnessed> {
  const files = await findRollouts(env, `${session}.jsonl`);
  return searchRecords(files, [answerId], (line) => isShown(line, answerId));
}

async function findSessions({ env, ...wanted }: SessionSearch): Promise<RecordedSession[]> {
  return readMatchingRecords(await findRollouts(env, ".jsonl"), wanted, (_, { first }) => {
    const [session, dir] = [textAt(first, "payload", "id"), textAt(first, "payload", "cwd")];
    return session && dir ? { session, dir } : undefined;
  });
}

function findRollouts(env: Evidence["env"], end: string): Promise<string[]> {
  const root = env["CODEX_HOME"] ?? join(env["HOME"] ?? homedir(), ".codex");
  const isWanted = (name: string) => name.startsWith("rollout-") && name.endsWith(end);
  return findFiles(join(root, "sessions"), isWanted, SESSION_DEPTH);
}

function isShown(line: Json, answerId: string): boolean {
  if (line["type"] !== "response_item") return false;
  const type = textAt(line, "payload", "type") ?? "";
  if (type === "message") {
    return textAt(line, "payload", "role") === "user" && wordsAt(line, "payload", "content").includes(answerId);
  }
  return type.endsWith("_output") && JSON.stringify(line["payload"]).includes(answerId);
}
