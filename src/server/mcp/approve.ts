import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isAskedAgain } from "../../core/question/ask.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import type { Read } from "../../core/changes.ts";
import { answeredInput, claudeToolCall } from "../../agents/claude/hook.ts";
import {
  type HookCall,
  type HookReply,
  denyFor,
  parseHookInput,
  replyTo,
  replyUnanswered,
} from "../../core/door/hook.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { ask } from "./ask.ts";
import { askerOf } from "./asker.ts";
import type { ToolCall, ToolResult } from "./caller.ts";
import { bringOut, waitFor, windowFor } from "./hand-over.ts";

const Input = z.looseObject({
  tool_name: z.string().min(1),
  input: z.unknown(),
  tool_use_id: z.string().min(1),
});

/**
 * Decides for Claude Code's `--permission-prompt-tool`. It can only wait: at the end of its window the question is
 * kept, and the agent is told to stop. Whatever goes wrong is a no.
 */
export async function approve(call: ToolCall): Promise<ToolResult> {
  const given = parseHookInput(Input, call.input);
  const asker = await askerOf(call);
  const hooked = claudeToolCall({
    ...{ event: "permission", session: asker.session ?? "", dir: call.caller.dir },
    ...{ tool: given.tool_name, input: given.input, toolUseId: given.tool_use_id, isSubagent: false },
  });
  return resultFor(hooked, await decide(call, hooked));
}

async function decide(call: ToolCall, hooked: HookCall): Promise<HookReply> {
  try {
    const read = await askOrFind(call, hooked);
    const out = await bringOut(call, read, { isNamed: false });
    return out && !isPending(out.question)
      ? replyTo(hooked, out)
      : replyUnanswered(hooked, out ?? read, { park: false, isAttended: false });
  } catch (error) {
    if (error instanceof Refusal) return denyFor(error);
    throw error;
  }
}

async function askOrFind(call: ToolCall, hooked: HookCall): Promise<Read> {
  const { engine, rules } = call.deps;
  const raw = { ...hooked.ask, key: hooked.key };
  const door = { via: "mcp", holdMs: rules.liveWindowMs };
  const input = parseAsk(raw, door, rules, await engine.now());
  const { run } = await askerOf(call);
  const ids = run ? [...(run.pendingId ? [run.pendingId] : []), ...run.owes] : [];
  const open = await Promise.all(ids.map((id) => engine.read(id)));
  const again = open.find(({ question }) => isAskedAgain(question, input));
  if (again) return waitFor(call, { read: again, isHeld: false }, windowFor(call, rules.liveWindowMs));
  const asked = await ask({ ...call, input: raw }, door);
  return waitFor(call, asked, asked.windowMs);
}

/** One text block in the words of that program. */
function resultFor(hooked: HookCall, reply: HookReply): ToolResult {
  const said =
    reply.do === "give"
      ? { behavior: "allow", updatedInput: inputFor(hooked, reply.read) }
      : { behavior: "deny", message: reply.do === "pass" ? "Nobody has answered." : reply.why };
  return { content: [{ type: "text", text: JSON.stringify(said) }] };
}

/** What the program calls the tool with: its own question tool with the answers, any other as it wanted to. */
function inputFor(hooked: HookCall, read: Read): unknown {
  if (hooked.is !== "question") return hooked.input;
  return answeredInput(hooked, read, delimiterFrom(randomBytes(DELIMITER_BYTES)));
}
