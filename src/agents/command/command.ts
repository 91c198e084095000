import { join } from "node:path";
import { type Agent, type AgentEvent, type Start, type Task, messageOf } from "../agent.ts";
import { readClaude } from "../claude/output.ts";
import { readCodex } from "../codex/codex.ts";
import { readGemini } from "../gemini/gemini.ts";
import { type Json, isJson, parseJson, textAt, MAX_LINE_CHARS } from "../json.ts";
import { readOpencode } from "../opencode/opencode.ts";
import { commonStart } from "../mcp-config.ts";

const ANSWER_FILE = "answer";

/** Any other program: it asks by a marker in its words, by `askd ask`, or by its result. */
export const command: Agent = {
  name: "command",
  program: "",
  parseArgs: (args) => ({ args, prompt: undefined }),
  start: (task) => ({ ...build(task, [task.program, ...task.args]), stdin: task.prompt }),
  resume(task, how) {
    const message = messageOf(how);
    const start = build(task, resumeArgv(task, message));
    return {
      ...start,
      env: { ...start.env, ASKD_ANSWER_FILE: join(task.startDir, ANSWER_FILE) },
      files: [...start.files, { name: ANSWER_FILE, text: message }],
      stdin: message,
      // Most programs have none, and one that is empty would be the same for all of them.
      session: task.session === "" ? undefined : task.session,
    };
  },
  read: readCommand,
  witness: () => Promise.resolve("unknown"),
  takeover: (_session, program) => [program],
};

function build(task: Task, argv: readonly string[]): Start {
  return { argv, ...commonStart(task), stdin: undefined, session: undefined, prints: "lines", added: [] };
}

/** The user's own way to resume, with the session and the message filled in, or the same command line again. */
function resumeArgv(task: Task & { session: string }, message: string): string[] {
  if (!task.resumeWith) return [task.program, ...task.args];
  const values: Record<string, string> = { "{session}": task.session, "{message}": message };
  return task.resumeWith.map((word) => word.replace(/\{(?:session|message)\}/g, (name) => values[name] ?? name));
}

/** Lines are words, unless they are those of an agent that we know: programs are often a shell around one. */
function readCommand(line: string): AgentEvent[] {
  if (line.length > MAX_LINE_CHARS)
    return [{ kind: "warning", text: `A line of ${line.length} characters was skipped` }];
  const object = line.startsWith("{") ? parseJson(line) : undefined;
  const read = object && findReader(object);
  return read && object ? read(object) : [{ kind: "text", text: `${line}\n`, isPiece: true }];
}

function findReader(line: Json): ((line: Json) => AgentEvent[]) | undefined {
  const type = textAt(line, "type");
  if (type === undefined) return undefined;
  if (textAt(line, "sessionID") !== undefined && isJson(line["part"])) return readOpencode;
  if (/^(thread|turn|item)\./.test(type)) return readCodex;
  if (textAt(line, "session_id") !== undefined && textAt(line, "uuid") !== undefined) return readClaude;
  const isGemini = ["init", "message", "tool_use", "tool_result", "result"].includes(type);
  return isGemini && textAt(line, "timestamp") !== undefined ? readGemini : undefined;
}
