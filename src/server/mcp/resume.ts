import type { Context } from "hono";
import { msBetween } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { SignedIn } from "../credential.ts";
import { askerOf } from "./asker.ts";
import { holdFor } from "./hand-over.ts";
import { readAsker } from "./own-question.ts";
import { type HeldStream, isAtEnd, readStreamId } from "./stream-id.ts";
import type { Tool } from "./tool.ts";

/** Where the newer era of the protocol begins, which says with every request what the client is. */
const MODERN_PROTOCOL = "2026-07-28";
const TOOL = "check_answer";

/** A request that goes on with a call, as if its client had sent it anew. */
export interface ResumedRequest {
  stream: HeldStream;
  request: Request;
  body: object;
}

/** Reads whether a request comes back for the reply of a call whose stream broke. */
export function findResumed(context: Context<SignedIn>): ResumedRequest | undefined {
  const { req } = context;
  const id = req.header("last-event-id");
  if (req.method !== "GET" || id === undefined || isAtEnd(id)) return undefined;
  if (!req.header("accept")?.includes("text/event-stream")) return undefined;
  const stream = readStreamId(id, context.get("token").id);
  if (!stream) throw new Refusal("bad_input", "Last-Event-ID names no stream of this token");
  const { requestId, protocol, progressToken } = stream;
  const isModern = protocol >= MODERN_PROTOCOL;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(protocol !== "" && { "mcp-protocol-version": protocol }),
    ...(isModern && { "mcp-method": "tools/call", "mcp-name": TOOL }),
  };
  const meta = {
    progressToken,
    ...(isModern && envelope(protocol)),
  };
  return {
    stream,
    request: new Request(req.url, { method: "POST", headers }),
    body: { jsonrpc: "2.0", id: requestId, method: "tools/call", params: { name: TOOL, arguments: {}, _meta: meta } },
  };
}

/** Holds the question for what is left of the call's time; its reply is that of the first request. */
export function resumeCall({ questionId, since, until, after }: HeldStream): Tool["run"] {
  return async (call) => {
    const { engine } = call.deps;
    const read = await readAsker(call, await askerOf(call), questionId);
    const leftMs = Math.max(1, msBetween(await engine.now(), until));
    return holdFor(call, { read, isHeld: false }, leftMs, { since, after });
  };
}

/** It is not known any more what the client could do; it is asked for nothing but to take the reply. */
function envelope(protocol: string): object {
  const prefix = "io.modelcontextprotocol";
  return {
    [`${prefix}/protocolVersion`]: protocol,
    [`${prefix}/clientInfo`]: { name: "resumed", version: "0" },
    [`${prefix}/clientCapabilities`]: {},
  };
}
