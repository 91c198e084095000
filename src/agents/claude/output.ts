import type { RunResult } from "../../core/run/run-lifecycle.ts";
import { SECOND_MS, instant } from "../../core/instant.ts";
import { NOT_LOGGED_IN } from "../../core/run/run.ts";
import type { AgentEvent, Usage } from "../agent.ts";
import { readApiFailure } from "../api-failure.ts";
import { type Json, isJson, listAt, numberAt, textAt, textsAt, valueAt, wordsAt } from "../json.ts";

/** How it says that it cannot use its model for want of a login or a key that is good. */
const LOGGED_OUT = /^(?:Not logged in|Invalid API key)\b|Please run \/login/;

/** Says what one line of Claude Code's stream-json shows. */
export function readClaude(line: Json): AgentEvent[] {
  switch (line["type"]) {
    case "system":
      return readSystem(line);
    case "assistant":
      return isOwnWord(line) ? readMessage(line) : [];
    case "user":
      return listAt(line, "message", "content").flatMap(readShown);
    case "result":
      return readResultLine(line);
    case "rate_limit_event":
      return readLimit(valueAt(line, "rate_limit_info"));
    default:
      // Pieces of words (stream_event) come again as whole ones.
      return [];
  }
}

function readLimit(limit: unknown): AgentEvent[] {
  const seconds = numberAt(limit, "resetsAt");
  if (textAt(limit, "status") !== "rejected" || seconds === undefined) return [];
  return [{ kind: "limit", endsAt: instant(seconds * SECOND_MS) }];
}

/** Text of a subagent, or of the program about a failure, is not the agent's own. */
function isOwnWord(line: Json): boolean {
  return textAt(line, "parent_tool_use_id") === undefined && textAt(line, "message", "model") !== "<synthetic>";
}

function readSystem(line: Json): AgentEvent[] {
  const session = textAt(line, "session_id");
  if (line["subtype"] === "init" && session) {
    const tools = textsAt(line, "tools");
    return [{ kind: "session", session, ...(tools && { tools }) }];
  }
  if (line["subtype"] === "api_retry") {
    const status = numberAt(line, "error_status") ?? textAt(line, "error") ?? "no reply";
    return [{ kind: "warning", text: `The model is asked again (${status})` }];
  }
  if (line["subtype"] === "permission_denied") {
    return [{ kind: "warning", text: `It may not use ${textAt(line, "tool_name") ?? "a tool"}` }];
  }
  return [];
}

/** One line for each block of a message, all with the id of the message. */
function readMessage(line: Json): AgentEvent[] {
  const message = textAt(line, "message", "id");
  const turn = message === undefined ? [] : [{ kind: "turn" as const, message }];
  return [...turn, ...listAt(line, "message", "content").flatMap(readBlock)];
}

function readBlock(block: Json): AgentEvent[] {
  if (block["type"] === "text") return [{ kind: "text", text: textAt(block, "text") ?? "", isPiece: false }];
  if (block["type"] !== "tool_use") return [];
  return [{ kind: "called", name: textAt(block, "name") ?? "", callId: textAt(block, "id") ?? "" }];
}

function readShown(block: Json): AgentEvent[] {
  const callId = textAt(block, "tool_use_id");
  if (block["type"] !== "tool_result" || callId === undefined) return [];
  return [{ kind: "shown", callId, isError: block["is_error"] === true, text: wordsAt(block, "content") }];
}

/** A result is not always the last line, and there may be several. */
function readResultLine(line: Json): AgentEvent[] {
  const session = textAt(line, "session_id");
  const call = valueAt(line, "deferred_tool_use");
  const callId = textAt(call, "id");
  const isDeferred = line["terminal_reason"] === "tool_deferred" || line["stop_reason"] === "tool_deferred";
  const text = textAt(line, "result");
  const structured = valueAt(line, "structured_output");
  const ended = readEnd(line);
  return [
    // A failed resume names the session that it did not find.
    ...(session && numberAt(line, "num_turns") !== 0 ? [{ kind: "session" as const, session }] : []),
    ...(isDeferred && callId
      ? [{ kind: "deferred" as const, callId, name: textAt(call, "name") ?? "", input: valueAt(call, "input") }]
      : []),
    ...readUsage(line).map((usage) => ({ kind: "usage" as const, usage })),
    {
      kind: "ended",
      result: ended,
      ...(text && ended.status === "completed" && { text }),
      ...(isJson(structured) && { structured }),
    },
  ];
}

/** Failures of the API are called success, so `subtype` says less than `is_error`. */
function readEnd(line: Json): RunResult {
  const reason = textAt(line, "terminal_reason");
  if (line["is_error"] !== true && !reason?.startsWith("api_error")) return { status: "completed" };
  const subtype = textAt(line, "subtype");
  const said = [textAt(line, "result") ?? "", ...(textsAt(line, "errors") ?? [])].filter(Boolean).join("\n");
  const known = subtype && subtype !== "success" ? subtype : (reason ?? "agent_error");
  const isLoggedOut = reason === "api_error" && LOGGED_OUT.test(said);
  const summary = said === "" ? undefined : said;
  if (isLoggedOut) return { status: "failed", reason: NOT_LOGGED_IN, ...(summary && { summary }) };
  const failure = reason === "api_error" ? readApiFailure(said, numberAt(line, "api_error_status")) : {};
  return { status: "failed", reason: known, ...(summary && { summary }), ...failure };
}

/**
 * Newer versions count cost and tokens over all resumes of a session, and say what is new since the last result; older
 * ones count them for each process. Turns always count since the last result.
 */
function readUsage(line: Json): Usage[] {
  const recent = valueAt(line, "model_usage_since_last_result");
  if (!isJson(recent)) {
    const used = sumModels(valueAt(line, "modelUsage"));
    return [
      { since: "process", ...used, costUsd: numberAt(line, "total_cost_usd") },
      { since: "line", turns: numberAt(line, "num_turns") },
    ];
  }
  // Without a model request the number of turns is one of the whole history.
  const turns = Object.keys(recent).length === 0 ? undefined : numberAt(line, "num_turns");
  return [{ since: "line", ...sumModels(recent), turns }];
}

function sumModels(usage: unknown): Pick<Usage, "costUsd" | "inputTokens" | "outputTokens"> {
  const models = Object.values(isJson(usage) ? usage : {});
  const sum = (...names: string[]) =>
    models.flatMap((model) => names.map((name) => numberAt(model, name) ?? 0)).reduce((all, one) => all + one, 0);
  return {
    costUsd: sum("costUSD"),
    inputTokens: sum("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
    outputTokens: sum("outputTokens"),
  };
}
