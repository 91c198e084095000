import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { howToAskByMarker } from "../../core/run/how-to-ask.ts";
import { SECOND_MS } from "../../core/instant.ts";
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
import { type Json, listAt, numberAt, textAt, valueAt, wordsAt, readJsonLine } from "../json.ts";
import { type OptionTable, type Piece, findOption, parsePieces, withoutOptions, writePieces } from "../options.ts";
import { SERVER, chooseSession, commonStart, patienceSeconds, serverArgv, startWithServer } from "../mcp-config.ts";
import { findFiles, readMatchingRecords, searchRecords } from "../runner/transcript-search.ts";
import { findFileText } from "../process/private-file.ts";

const OTHERS_WRITE = 0o022;
const SETTINGS_FILE = "gemini-settings.json";
const SETTINGS_ENV = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";
/** Where an administrator's own defaults would be; they are not to be hidden. */
const ADMIN_SETTINGS = "/etc/gemini-cli/system-defaults.json";
/** A file of a session is named after the first part of its id. */
const SHORT_ID_CHARS = 8;
/** Which directory a folder of chats belongs to. */
const PROJECT_FILE = ".project_root";

const OPTIONS: OptionTable = [
  ["one", "--prompt", "-p"],
  ["one", "--prompt-interactive", "-i"],
  ["one", "--model", "-m"],
  ["one", "--output-format", "-o"],
  ["maybe", "--worktree", "-w"],
  ["maybe", "--resume", "-r"],
  ["many", "--extensions", "-e"],
  ...["--approval-mode", "--session-file", "--session-id", "--delete-session"].map((name) => ["one", name] as const),
  ...["--policy", "--admin-policy", "--allowed-mcp-server-names", "--allowed-tools", "--include-directories"].map(
    (name) => ["many", name] as const,
  ),
];

/** Gemini CLI without its terminal. It resumes only where it was started. */
export const gemini: Agent = {
  name: "gemini",
  program: "gemini",
  parseArgs,
  start(task) {
    const pieces = parsePieces(task.args, OPTIONS);
    const isChosen = ["--resume", "--session-id", "--session-file"].some(
      (name) => findOption(pieces, name) !== undefined,
    );
    const session = isChosen ? findOption(pieces, "--session-id") : chooseSession(task);
    const start = build(task, pieces, isChosen || session === undefined ? [] : ["--session-id", session]);
    if (mayConfigure(task) || task.prompt === undefined) return { ...start, stdin: task.prompt, session };
    const added = [...start.added, "how to ask by a marker, because only root may give it our tools"];
    return { ...start, stdin: `${task.prompt}\n\n${howToAskByMarker()}`, session, added };
  },
  resume(task, how) {
    const kept = withoutOptions(
      parsePieces(task.args, OPTIONS),
      "--resume",
      "--session-id",
      "--session-file",
      "--worktree",
    );
    const start = build(task, kept, ["--resume", task.session]);
    return { ...start, stdin: messageOf(how), session: task.session };
  },
  read: (line) => readJsonLine(line, readGemini),
  witness,
  findSessions,
  takeover: (session, program) => [program, "--resume", session],
};

/** The prompt is the value of -p, or all words together. */
function parseArgs(args: readonly string[]): ParsedArgs {
  const pieces = parsePieces(args, OPTIONS);
  const options = withoutOptions(pieces, "--prompt", "--prompt-interactive").filter((piece) => piece.kind === "option");
  const words = pieces.flatMap((piece) => (piece.kind === "word" ? [piece.word] : []));
  const said = findOption(pieces, "--prompt") ?? findOption(pieces, "--prompt-interactive");
  return { args: writePieces(options), prompt: said ?? (words.length > 0 ? words.join(" ") : undefined) };
}

function build(task: Task, pieces: readonly Piece[], session: readonly string[]): Start {
  const isConfigured = mayConfigure(task);
  const { env, files } = isConfigured ? startWithServer(task) : commonStart(task);
  const format = findOption(pieces, "--output-format");
  const kept = writePieces(withoutOptions(pieces, "--output-format"));
  const path = join(task.startDir, SETTINGS_FILE);
  return {
    argv: [task.program, ...kept, "--output-format", "stream-json", ...session],
    env: { ...env, ...(isConfigured && { [SETTINGS_ENV]: path }) },
    files: [...files, ...(isConfigured ? [{ name: SETTINGS_FILE, text: makeSettings(task) }] : [])],
    stdin: undefined,
    session: undefined,
    prints: format === "stream-json" ? "lines" : format === "json" ? "report" : "words",
    added: [
      ...(format === "stream-json" ? [] : ["--output-format stream-json, to see what it does"]),
      ...(session.length > 0 ? [session.join(" ")] : []),
      ...(isConfigured ? [`the tools of ${SERVER}`] : []),
    ],
  };
}

/** Settings by environment are taken only from places that root owns; there is no other way than the user's files. */
function mayConfigure(task: Task): boolean {
  if (process.getuid?.() !== 0 || task.env[SETTINGS_ENV] !== undefined || existsSync(ADMIN_SETTINGS)) return false;
  return isRootsOwn(task.startDir);
}

/** Gemini CLI looks at every folder above too. */
function isRootsOwn(path: string): boolean {
  const { uid, mode } = statSync(path, { throwIfNoEntry: false }) ?? { uid: 0, mode: 0 };
  if (uid !== 0 || (mode & OTHERS_WRITE) !== 0) return false;
  return dirname(path) === path || isRootsOwn(dirname(path));
}

function makeSettings(task: Task): string {
  const [command, ...args] = serverArgv(task);
  const server = { command, args, trust: true, timeout: patienceSeconds(task) * SECOND_MS };
  return JSON.stringify({ mcpServers: { [SERVER]: server } });
}

/** Says what one line of Gemini CLI's stream-json shows. */
export function readGemini(line: Json): AgentEvent[] {
  switch (line["type"]) {
    case "init": {
      const session = textAt(line, "session_id");
      return session ? [{ kind: "session", session }] : [];
    }
    case "message":
      // The prompt comes back as a message of the user.
      if (line["role"] !== "assistant") return [];
      return [{ kind: "text", text: wordsAt(line, "content"), isPiece: line["delta"] === true }];
    case "tool_use":
      return [{ kind: "called", name: textAt(line, "tool_name") ?? "", callId: textAt(line, "tool_id") ?? "" }];
    case "tool_result":
      return [readShown(line)];
    case "error":
      return [{ kind: "warning", text: textAt(line, "message") ?? "an error without words" }];
    case "result":
      return readEnd(line);
    default:
      return [];
  }
}

function readShown(line: Json): AgentEvent {
  const text = textAt(line, "output") ?? textAt(line, "error", "message") ?? "";
  return { kind: "shown", callId: textAt(line, "tool_id") ?? "", isError: line["status"] !== "success", text };
}

function readEnd(line: Json): AgentEvent[] {
  const stats = valueAt(line, "stats");
  const usage = {
    since: "process" as const,
    inputTokens: numberAt(stats, "input_tokens"),
    outputTokens: numberAt(stats, "output_tokens"),
  };
  const summary = textAt(line, "error", "message");
  const failed = { status: "failed", reason: "agent_error", ...(summary && { summary }) } as const;
  return [
    { kind: "usage", usage },
    { kind: "ended", result: line["status"] === "success" ? { status: "completed" } : failed },
  ];
}

/** Looks into the files of chats, in whichever project; their names hold only the beginning of a session's id. */
async function witness({ session, env, answerId }: Evidence): Promise<Witnessed> {
  const files = await findChats(env, `-${session.slice(0, SHORT_ID_CHARS)}.jsonl`);
  const found: Witnessed[] = [];
  for (const file of files) {
    const isOwn = await searchRecords([file], [session], (line) => line["sessionId"] === session);
    if (isOwn !== "given") continue;
    found.push(await searchChat(file, answerId));
  }
  if (found.includes("given")) return "given";
  return found.length === 0 || found.includes("unknown") ? "unknown" : "absent";
}

/**
 * A message counts until the messages are set anew without it, as when its request has failed: its model is not shown it
 * again. A reply to it stays, whatever becomes of the chat.
 */
async function searchChat(file: string, answerId: string): Promise<Witnessed> {
  let isTold = false;
  const found = await searchRecords([file], [answerId, '"$set":{"messages"', '"type":"gemini"'], (line) => {
    const messages = listAt(line, "$set", "messages");
    if (isShown(line, answerId)) isTold = true;
    else if (messages.length > 0 && !JSON.stringify(messages).includes(answerId)) isTold = false;
    return isTold && line["type"] === "gemini";
  });
  return isTold ? "given" : found;
}

/** The folder of a project names the directory that its sessions can be resumed in. */
async function findSessions({ env, ...wanted }: SessionSearch): Promise<RecordedSession[]> {
  const holding = await readMatchingRecords(await findChats(env, ".jsonl"), wanted, (_, { file, first }) => {
    const session = textAt(first, "sessionId");
    return session ? { session, project: dirname(dirname(file)) } : undefined;
  });
  const found = holding.map(async ({ session, project }) => {
    const dir = (await findFileText(join(project, PROJECT_FILE)))?.trim();
    return dir ? [{ session, dir }] : [];
  });
  return (await Promise.all(found)).flat();
}

function findChats(env: Evidence["env"], end: string): Promise<string[]> {
  const root = join(env["GEMINI_CLI_HOME"] ?? env["HOME"] ?? homedir(), ".gemini", "tmp");
  return findFiles(root, (name) => name.startsWith("session-") && name.endsWith(end), 2);
}

/** Messages stand on lines of their own, or all together on one that sets them anew. */
function isShown(line: Json, answerId: string): boolean {
  const messages = [line, ...listAt(line, "$set", "messages")];
  return messages.some((message) => {
    if (message["type"] !== "user") return false;
    const parts = listAt(message, "content");
    // A hook answers by refusing the call, which is an error.
    const responses = parts.map((part) => valueAt(part, "functionResponse", "response"));
    return wordsAt(message, "content").includes(answerId) || (JSON.stringify(responses) ?? "").includes(answerId);
  });
}
