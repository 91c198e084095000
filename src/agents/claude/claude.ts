import { homedir } from "node:os";
import { basename, join } from "node:path";
import type {
  Agent,
  Evidence,
  Limits,
  ParsedArgs,
  PermissionMode,
  RecordedSession,
  Resume,
  SessionSearch,
  Start,
  Task,
  Witnessed,
} from "../agent.ts";
import { NEEDS_INPUT, howToAskByResult } from "../../core/run/how-to-ask.ts";
import { readClaude } from "./output.ts";
import { canDo, losesResults, makeSettings } from "./settings.ts";
import { type Json, listAt, readJsonLine, textAt, textsAt, wordsAt } from "../json.ts";
import { type OptionTable, type Piece, findOption, parsePieces, withoutOptions, writePieces } from "../options.ts";
import { SERVER, chooseSession, startWithServer, serverArgv } from "../mcp-config.ts";
import { findFiles, readMatchingRecords, searchRecords } from "../runner/transcript-search.ts";

const SETTINGS_FILE = "claude-settings.json";
const MCP_FILE = "claude-mcp.json";
const TOOLS = ["ask_human", "check_answer", "cancel_question"].map((tool) => `mcp__${SERVER}__${tool}`).join(",");
const QUESTION_TOOL = "AskUserQuestion";

const OPTIONS: OptionTable = [
  ["none", "--print", "-p"],
  ["none", "--continue", "-c"],
  ...["--verbose", "--fork-session", "--bare", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"].map(
    (name) => ["none", name] as const,
  ),
  ["maybe", "--resume", "-r"],
  ["maybe", "--debug", "-d"],
  ["maybe", "--worktree", "-w"],
  ...["--from-pr", "--cloud", "--remote-control", "--teleport", "--prompt-suggestions"].map(
    (name) => ["maybe", name] as const,
  ),
  ["many", "--allowedTools", "--allowed-tools"],
  ["many", "--disallowedTools", "--disallowed-tools"],
  ...["--add-dir", "--mcp-config", "--betas", "--file", "--tools"].map((name) => ["many", name] as const),
  ["one", "--name", "-n"],
  ...[
    "--output-format",
    "--input-format",
    "--session-id",
    "--settings",
    "--permission-prompt-tool",
    "--model",
    "--permission-mode",
    "--permission-prompts",
    "--max-turns",
    "--max-budget-usd",
    "--json-schema",
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--system-prompt",
    "--effort",
    "--system-prompt-file",
    "--system-prompt-snapshot",
    "--setting-sources",
    "--fallback-model",
    "--plugin-dir",
    "--plugin-url",
    "--debug-file",
    "--environment",
    "--autocompact",
    "--remote-control-session-name-prefix",
  ].map((name) => ["one", name] as const),
];

/** Claude Code in print mode. Its own question tool is parked by our hook and answered as its own call. */
export const claude: Agent = {
  name: "claude",
  program: "claude",
  limitsKeptBy: "agent",
  parseArgs,
  optionsToResume,
  start(task) {
    const pieces = parsePieces(task.args, OPTIONS);
    const isChosen = ["--resume", "--continue", "--session-id", "--from-pr", "--teleport"].some(
      (name) => findOption(pieces, name) !== undefined,
    );
    const session = isChosen ? findOption(pieces, "--session-id") : chooseSession(task);
    const args = isChosen || session === undefined ? [] : ["--session-id", session];
    return { ...build(task, pieces, args), stdin: promptOf(task, pieces), session };
  },
  resume(task, how: Resume) {
    const own = withoutOptions(
      parsePieces(task.args, OPTIONS),
      "--session-id",
      "--resume",
      "--continue",
      "--fork-session",
    );
    const start = build(task, own, ["--resume", task.session]);
    // A call that was put off goes on by itself; any text would be a second turn after it.
    return { ...start, stdin: how.by === "call" ? undefined : how.text, session: task.session };
  },
  read: (line) => readJsonLine(line, readClaude),
  witness,
  isPutOff,
  findSessions,
  takeover: (session, program) => [program, "--resume", session],
};

/** The prompt; where the result has a schema with our status, it says how to ask by it. */
function promptOf({ prompt }: Task, pieces: readonly Piece[]): string | undefined {
  const isAskedByResult = findOption(pieces, "--json-schema")?.includes(NEEDS_INPUT) === true;
  return prompt !== undefined && isAskedByResult ? `${prompt}\n\n${howToAskByResult()}` : prompt;
}

function parseArgs(args: readonly string[]): ParsedArgs {
  const { pieces, prompt } = takePrompt(args);
  const { rest, limits } = takeLimits(pieces);
  return { args: writePieces(rest), prompt, limits };
}

/** The prompt is the word behind -p, or the last word of all. */
function takePrompt(args: readonly string[]) {
  const pieces = parsePieces(args, OPTIONS);
  const print = pieces.findIndex((piece) => piece.kind === "option" && piece.name === "--print");
  const behind = print >= 0 && pieces[print + 1]?.kind === "word" ? pieces[print + 1] : undefined;
  const prompt = behind ?? pieces.findLast((piece) => piece.kind === "word");
  return {
    pieces: pieces.filter((piece) => piece !== prompt),
    prompt: prompt?.kind === "word" ? prompt.word : undefined,
  };
}

/** Takes out the limits that can be counted over all starts. A wrong value stays, so that the program refuses it. */
function takeLimits(pieces: readonly Piece[]): { rest: Piece[]; limits: Limits } {
  const turns = findOption(pieces, "--max-turns") ?? "";
  const dollars = findOption(pieces, "--max-budget-usd") ?? "";
  const limits = {
    ...(/^\d{1,9}$/.test(turns) && Number(turns) > 0 && { maxTurns: Number(turns) }),
    ...(/^[\d.]{1,20}$/.test(dollars) && Number(dollars) > 0 && { budgetUsd: Number(dollars) }),
  };
  const taken = [
    ...(limits.maxTurns === undefined ? [] : ["--max-turns"]),
    ...(limits.budgetUsd === undefined ? [] : ["--max-budget-usd"]),
  ];
  return { rest: withoutOptions(pieces, ...taken), limits };
}

/** Options that choose the session or belong to its first prompt. */
const OF_FIRST_START = [
  "--print",
  "--session-id",
  "--resume",
  "--continue",
  "--fork-session",
  "--from-pr",
  "--teleport",
  "--worktree",
  "--input-format",
  "--replay-user-messages",
];

function optionsToResume(args: readonly string[], mode: PermissionMode | undefined): readonly string[] | undefined {
  const { pieces } = takePrompt(args);
  const has = (name: string): boolean => findOption(pieces, name) !== undefined;
  // A session without a person prints: a command line that does not say so is not the one that was typed.
  if (!has("--print") || has("--no-session-persistence")) return undefined;
  const isSaid = has("--permission-mode") || has("--dangerously-skip-permissions");
  const asNow = isSaid || mode === undefined || mode === "default" ? [] : ["--permission-mode", mode];
  return [...writePieces(withoutOptions(pieces, ...OF_FIRST_START)), ...asNow];
}

function build(task: Task, pieces: readonly Piece[], session: readonly string[]): Omit<Start, "stdin" | "session"> {
  const { env, files } = startWithServer(task);
  const format = findOption(pieces, "--output-format");
  const doors = openDoors(task, pieces);
  const kept = withoutOptions(pieces, "--print", "--output-format", "--verbose", ...doors.replaced);
  const limits = [
    ...(task.maxTurns !== undefined && findOption(pieces, "--max-turns") === undefined
      ? ["--max-turns", String(task.maxTurns)]
      : []),
    ...(task.budgetUsd !== undefined && findOption(pieces, "--max-budget-usd") === undefined
      ? ["--max-budget-usd", String(task.budgetUsd)]
      : []),
  ];
  const stream = ["--print", "--output-format", "stream-json", "--verbose"];
  return {
    argv: [task.program, ...stream, ...writePieces(kept), ...session, ...limits, ...doors.args],
    env,
    files: [...files, ...doors.files],
    prints: format === "stream-json" ? "lines" : format === "json" ? "report" : "words",
    added: [
      ...(findOption(pieces, "--print") === undefined ? ["--print, because nobody sits at it"] : []),
      ...(format === "stream-json" ? [] : ["--output-format stream-json, to see what it does"]),
      ...(session.length > 0 ? [session.join(" ")] : []),
      ...limits.filter((word) => word.startsWith("--")),
      ...doors.added,
    ],
  };
}

interface Doors {
  args: string[];
  files: Array<{ name: string; text: string }>;
  /** The user's options that are part of ours now. */
  replaced: string[];
  added: string[];
}

/** How it can ask: by its own question tool where its version can wait for the answer, by ours in any case. */
function openDoors(task: Task, pieces: readonly Piece[]): Doors {
  const [command, ...args] = serverArgv(task, task.promptTool);
  const server = { type: "stdio", command, args, alwaysLoad: true };
  const doors: Doors = {
    args: ["--mcp-config", join(task.startDir, MCP_FILE), "--allowedTools", TOOLS],
    files: [{ name: MCP_FILE, text: JSON.stringify({ mcpServers: { [SERVER]: server } }) }],
    replaced: [],
    added: [`the tools of ${SERVER}`],
  };
  const hasOwnPromptTool = findOption(pieces, "--permission-prompt-tool") !== undefined;
  const promptTool = task.promptTool && `mcp__${SERVER}__${task.promptTool}`;
  const settings = isHooked(task, pieces) ? makeSettings(task, findOption(pieces, "--settings")) : undefined;
  if (settings !== undefined) {
    doors.files.push({ name: SETTINGS_FILE, text: settings });
    doors.args.push("--settings", join(task.startDir, SETTINGS_FILE));
    doors.replaced.push("--settings");
    doors.added.push(`a hook that keeps the questions of ${QUESTION_TOOL}`);
  }
  if (hasOwnPromptTool) return doors;
  // Its question tool is offered only where something answers permission prompts, be it nobody on stdin.
  if (promptTool !== undefined && canDo("promptTool", task.version))
    doors.args.push("--permission-prompt-tool", promptTool);
  else if (settings !== undefined) doors.args.push("--permission-prompt-tool", "stdio");
  else doors.args.push("--disallowedTools", QUESTION_TOOL);
  if (settings === undefined) doors.added.push(sayFallback(task, promptTool));
  return doors;
}

/** Says whether our hook would be run, and could put a question off. */
function isHooked(task: Task, pieces: readonly Piece[]): boolean {
  const isPlain = ["--bare", "--safe-mode"].some((name) => findOption(pieces, name) !== undefined);
  return !isPlain && canDo("defer", task.version);
}

function sayFallback(task: Task, promptTool: string | undefined): string {
  const why = canDo("defer", task.version)
    ? "its own settings or options leave no room for a hook"
    : `version ${task.version} cannot put a question off`;
  const how =
    promptTool !== undefined && canDo("promptTool", task.version)
      ? `${promptTool} answers while it waits`
      : `it asks with the tools of ${SERVER} only`;
  return `no hook, because ${why}; ${how}`;
}

/** Looks into the session's transcript, in whichever project it is. */
async function witness({ session, env, answerId, callId }: Evidence): Promise<Witnessed> {
  const files = await findTranscripts(session, env);
  return searchRecords(files, [answerId, callId], (line) => isShown(line, answerId, callId));
}

/** The same that the program looks for when it is resumed: its mark of a call that was put off, and any result of it. */
async function isPutOff({ session, env, callId }: Omit<Evidence, "answerId">): Promise<boolean | undefined> {
  const files = await findTranscripts(session, env);
  const isResult = (line: Json): boolean =>
    listAt(line, "message", "content").some((block) => block["tool_use_id"] === callId);
  if ((await searchRecords(files, [callId], isResult)) === "given") return false;
  const isMark = (line: Json): boolean =>
    textAt(line, "attachment", "type") === "hook_deferred_tool" && textAt(line, "attachment", "toolUseID") === callId;
  return (await searchRecords(files, [callId], isMark)) === "given" ? true : undefined;
}

function findTranscripts(session: string, env: Evidence["env"]): Promise<string[]> {
  return findFiles(projectsDir(env), (name) => name === `${session}.jsonl`, 1);
}

function projectsDir(env: Evidence["env"]): string {
  return join(env["CLAUDE_CONFIG_DIR"] ?? join(env["HOME"] ?? homedir(), ".claude"), "projects");
}

async function findSessions({ env, ...wanted }: SessionSearch): Promise<RecordedSession[]> {
  const files = await findFiles(projectsDir(env), (name) => name.endsWith(".jsonl"), 1);
  return readMatchingRecords(files, wanted, (line, { file }) => {
    const dir = textAt(line, "cwd");
    return dir ? { session: basename(file, ".jsonl"), dir } : undefined;
  });
}

/** The hook's own output also stands in the transcript, before the model saw anything: only messages to it count. */
function isShown(line: Json, answerId: string, call: string | undefined): boolean {
  const isLosing = losesResults(textAt(line, "version") ?? "");
  if (isLosing && textAt(line, "attachment", "type") === "hook_additional_context")
    return textsAt(line, "attachment", "content")?.some((text) => text.includes(answerId)) === true;
  // Such a version records a result that its model is not shown.
  const callId = isLosing ? undefined : call;
  if (line["type"] !== "user" || textAt(line, "message", "role") !== "user") return false;
  if ((textAt(line, "message", "content") ?? "").includes(answerId)) return true;
  return listAt(line, "message", "content").some((block) => {
    if (block["type"] !== "tool_result") return (textAt(block, "text") ?? "").includes(answerId);
    const isResult = block["is_error"] !== true && callId !== undefined && block["tool_use_id"] === callId;
    return isResult || wordsAt(block, "content").includes(answerId);
  });
}
