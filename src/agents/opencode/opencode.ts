import { homedir } from "node:os";
import { join } from "node:path";
import { SECOND_MS } from "../../core/instant.ts";
import { openDatabase } from "../../sqlite.ts";
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
import { readApiFailure } from "../api-failure.ts";
import { type Json, isJson, numberAt, parseJson, textAt, valueAt, readJsonLine } from "../json.ts";
import { type OptionTable, type Piece, findOption, parsePieces, withoutOptions, writePieces } from "../options.ts";
import { SERVER, startWithServer, patienceSeconds, serverArgv } from "../mcp-config.ts";
import { findFiles } from "../runner/transcript-search.ts";

const CONFIG_ENV = "OPENCODE_CONFIG_CONTENT";

/** The command line options of `opencode run`. */
export const OPTIONS: OptionTable = [
  ["one", "--session", "-s"],
  ["one", "--model", "-m"],
  ["one", "--password", "-p"],
  ["one", "--username", "-u"],
  ["many", "--file", "-f"],
  ["none", "--continue", "-c"],
  ...["--log-level", "--command", "--agent", "--format", "--title", "--attach", "--dir", "--port", "--variant"].map(
    (name) => ["one", name] as const,
  ),
];

/** OpenCode without its terminal. It is always told its directory: elsewhere a resumed session hangs. */
export const opencode: Agent = {
  name: "opencode",
  program: "opencode",
  limitsKeptBy: "runner",
  parseArgs,
  start: (task) => ({ ...build(task, parsePieces(task.args, OPTIONS), []), stdin: task.prompt }),
  resume(task, how) {
    // Options of the first prompt, and options that choose a session, are left out.
    const gone = ["--session", "--continue", "--fork", "--title", "--file", "--command"];
    const start = build(task, withoutOptions(parsePieces(task.args, OPTIONS), ...gone), ["--session", task.session]);
    return { ...start, stdin: messageOf(how), session: task.session };
  },
  read: (line) => readJsonLine(line, readOpencode),
  witness: async (evidence) => search(evidence, await findRecords(evidence)),
  findSessions: async (wanted) => (await findRecords(wanted)).flatMap((file) => listSessions(wanted, file)),
  takeover: (session, program) => [program, "--session", session],
};

/** The prompt is all words behind `run`. */
function parseArgs(args: readonly string[]): ParsedArgs {
  const pieces = parsePieces(args, OPTIONS);
  const words = pieces.flatMap((piece) => (piece.kind === "word" ? [piece.word] : []));
  const said = words[0] === "run" ? words.slice(1) : words;
  const options = pieces.filter((piece) => piece.kind === "option");
  return {
    args: [...(words[0] === "run" ? ["run"] : []), ...writePieces(options)],
    prompt: said.length > 0 ? said.join(" ") : undefined,
  };
}

function build(task: Task, pieces: readonly Piece[], session: readonly string[]): Start {
  const { env, files } = startWithServer(task);
  const isJsonOutput = findOption(pieces, "--format") === "json";
  const options = pieces.filter((piece) => piece.kind === "option");
  const kept = writePieces(withoutOptions(options, "--format"));
  const dir = findOption(pieces, "--dir") === undefined ? ["--dir", task.dir] : [];
  return {
    argv: [task.program, "run", ...kept, "--format", "json", ...dir, ...session],
    env: { ...env, [CONFIG_ENV]: makeConfig(task) },
    files,
    stdin: undefined,
    session: undefined,
    prints: isJsonOutput ? "lines" : "words",
    added: [
      ...(task.args.includes("run") ? [] : ["run, because nobody sits at it"]),
      ...(isJsonOutput ? [] : ["--format json, to see what it does"]),
      ...(dir.length > 0 ? [dir.join(" ")] : []),
      ...(session.length > 0 ? [session.join(" ")] : []),
      `the tools of ${SERVER}`,
    ],
  };
}

/** This configuration is laid over the user's files; what the user's own variable says is kept. */
function makeConfig(task: Task): string {
  const own = parseJson(task.env[CONFIG_ENV] ?? "{}") ?? {};
  const servers = valueAt(own, "mcp");
  const timeout = patienceSeconds(task) * SECOND_MS;
  const server = { type: "local", command: serverArgv(task), enabled: true, timeout };
  return JSON.stringify({ ...own, mcp: { ...(isJson(servers) && servers), [SERVER]: server } });
}

/** Says what one line of `opencode run --format json` shows. */
export function readOpencode(line: Json): AgentEvent[] {
  const session = textAt(line, "sessionID");
  const part = line["part"];
  switch (line["type"]) {
    case "step_start":
      return session ? [{ kind: "session", session }] : [];
    case "text":
      return [{ kind: "text", text: textAt(part, "text") ?? "", isPiece: false }];
    case "tool_use":
      return readCall(part);
    case "step_finish":
      return readStep(part);
    case "error": {
      const name = textAt(line, "error", "name");
      const summary = textAt(line, "error", "data", "message") ?? textAt(line, "error", "message") ?? name;
      const status = numberAt(line, "error", "data", "statusCode");
      const failure = status === undefined ? {} : readApiFailure(summary ?? "", status);
      const failed = { status: "failed", reason: "agent_error", ...(summary && { summary }), ...failure } as const;
      return [{ kind: "ended", result: failed }];
    }
    default:
      return [];
  }
}

/** A call is printed when it is over. */
function readCall(part: unknown): AgentEvent[] {
  const callId = textAt(part, "callID") ?? "";
  const isError = textAt(part, "state", "status") !== "completed";
  const text = textAt(part, "state", isError ? "error" : "output") ?? "";
  return [
    { kind: "called", name: textAt(part, "tool") ?? "", callId },
    { kind: "shown", callId, isError, text },
  ];
}

/** There is no line for the end: it is the step after which no call follows. */
function readStep(part: unknown): AgentEvent[] {
  const tokens = valueAt(part, "tokens");
  const cached = (numberAt(tokens, "cache", "read") ?? 0) + (numberAt(tokens, "cache", "write") ?? 0);
  const inputTokens = (numberAt(tokens, "input") ?? 0) + cached;
  const outputTokens = (numberAt(tokens, "output") ?? 0) + (numberAt(tokens, "reasoning") ?? 0);
  const cost = numberAt(part, "cost");
  // For a model without a known price it says 0 whatever was used.
  const costUsd = cost === 0 && inputTokens + outputTokens > 0 ? undefined : cost;
  const usage = { since: "line" as const, turns: 1, costUsd, inputTokens, outputTokens };
  const reason = textAt(part, "reason") ?? "";
  if (reason === "tool-calls") return [{ kind: "usage", usage }];
  const isFailed = reason === "error" || reason === "content-filter";
  return [
    { kind: "usage", usage },
    { kind: "ended", result: isFailed ? { status: "failed", reason } : { status: "completed" } },
  ];
}

function findRecords({ env }: Pick<Evidence, "env">): Promise<string[]> {
  const dir = join(env["XDG_DATA_HOME"] ?? join(env["HOME"] ?? homedir(), ".local", "share"), "opencode");
  return findFiles(dir, (name) => /^opencode[\w.-]*\.db$/.test(name), 0);
}

/** The sessions whose parts hold the text; a person resumes the one that a subagent's session belongs to. */
function listSessions({ text, sinceMs }: SessionSearch, file: string): RecordedSession[] {
  try {
    const db = openDatabase(file, { readOnly: true });
    try {
      const rows = db.prepare<RecordedSession>(
        "select distinct coalesce(session.parent_id, session.id) as session, session.directory as dir from part " +
          "join session on session.id = part.session_id where part.time_updated >= ? and instr(part.data, ?) > 0",
      );
      return rows.all(sinceMs, text);
    } finally {
      db.close();
    }
  } catch {
    return []; // another version's tables, or it cannot be read now
  }
}

/** Looks into its database, which it may have open. */
function search(evidence: Evidence, files: readonly string[]): Witnessed {
  const found = files.map((file) => searchDatabase(evidence, file));
  return found.find((one) => one === "given") ?? found.find((one) => one === "absent") ?? "unknown";
}

function searchDatabase({ session, answerId, callId }: Evidence, file: string): Witnessed {
  try {
    const db = openDatabase(file, { readOnly: true });
    try {
      if (!db.prepare<{ id: string }>("select id from session where id = ?").get(session)) return "unknown";
      const parts = db.prepare<{ message: string; part: string }>(
        "select message.data as message, part.data as part from part join message on message.id = part.message_id " +
          "where part.session_id = ? and (instr(part.data, ?) > 0 or instr(part.data, ?) > 0)",
      );
      const rows = parts.all(session, answerId, callId ?? answerId);
      const isGiven = rows.some((row) => isShown(parseJson(row.message), parseJson(row.part), answerId, callId));
      return isGiven ? "given" : "absent";
    } finally {
      db.close();
    }
  } catch {
    return "unknown"; // another version's tables, or it cannot be read now
  }
}

function isShown(message: Json | undefined, part: Json | undefined, answerId: string, callId?: string): boolean {
  if (textAt(message, "role") === "user") return (textAt(part, "text") ?? "").includes(answerId);
  if (textAt(part, "type") !== "tool") return false;
  const isResult = textAt(part, "state", "status") === "completed" && textAt(part, "callID") === callId;
  return isResult || ["output", "error"].some((field) => textAt(part, "state", field)?.includes(answerId));
}
