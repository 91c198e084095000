import type { AgentEvent } from "../agent.ts";
import { readCodex } from "./codex.ts";
import { type Json, numberAt, textAt, valueAt, wordsAt } from "../json.ts";

const CALLS = new Set(["mcpToolCall", "commandExecution", "fileChange", "webSearch", "dynamicToolCall"]);

/** How the bridge says that the model was sent what came of a request. */
export const SHOWN = "askd/shown";

/** Says what one line of the bridge shows: what the app-server notified it of, or what `codex exec` printed. */
export function readCodexApp(line: Json): AgentEvent[] {
  const { params } = line;
  switch (line["method"]) {
    case undefined:
      return readCodex(line);
    case "thread/started": {
      const session = textAt(params, "thread", "id");
      return session ? [{ kind: "session", session }] : [];
    }
    case "item/started":
    case "item/completed":
      return readItem(valueAt(params, "item"), line["method"] === "item/completed");
    case "item/tool/requestUserInput": {
      const callId = textAt(params, "itemId");
      return callId === undefined ? [] : [{ kind: "called", callId, name: "request_user_input" }];
    }
    case SHOWN:
      return readShown(params);
    case "thread/tokenUsage/updated":
      return readUsage(params);
    case "turn/completed":
      return readEnd(params);
    case "warning":
    case "error":
      return [{ kind: "warning", text: textAt(params, "message") ?? textAt(params, "error", "message") ?? "" }];
    default:
      return [];
  }
}

function readItem(item: unknown, isDone: boolean): AgentEvent[] {
  const type = textAt(item, "type") ?? "";
  if (type === "agentMessage")
    return isDone ? [{ kind: "text", text: textAt(item, "text") ?? "", isPiece: false }] : [];
  const id = textAt(item, "id");
  if (!CALLS.has(type) || id === undefined) return [];
  // A call of our own server says in words what it was given; that it came back does not mean that it was answered.
  const callId = type === "mcpToolCall" ? `mcp:${id}` : id;
  const tool = textAt(item, "tool");
  if (!isDone) return [{ kind: "called", callId, name: tool ? `mcp__${textAt(item, "server")}__${tool}` : type }];
  const text =
    textAt(item, "error", "message") ?? textAt(item, "aggregatedOutput") ?? wordsAt(item, "result", "content");
  return [{ kind: "shown", callId, isError: textAt(item, "status") !== "completed", text }];
}

function readShown(params: unknown): AgentEvent[] {
  const callId = textAt(params, "callId");
  return callId === undefined ? [] : [{ kind: "shown", callId, isError: false, text: JSON.stringify(params) }];
}

/** Codex counts from the beginning of the thread, over all resumes. */
function readUsage(params: unknown): AgentEvent[] {
  const inputTokens = numberAt(params, "tokenUsage", "total", "inputTokens");
  const outputTokens = numberAt(params, "tokenUsage", "total", "outputTokens");
  return [{ kind: "usage", usage: { since: "session", inputTokens, outputTokens } }];
}

/** A turn that was interrupted has not ended: it goes on when the run is resumed. */
function readEnd(params: unknown): AgentEvent[] {
  const status = textAt(params, "turn", "status");
  if (status === "completed") return [{ kind: "ended", result: { status: "completed" } }];
  if (status !== "failed") return [];
  const summary = textAt(params, "turn", "error", "message");
  return [{ kind: "ended", result: { status: "failed", reason: "agent_error", ...(summary && { summary }) } }];
}
