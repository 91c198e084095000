import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isAskedAgain } from "../../core/question/ask.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import {
  type HookCall,
  type HookReply,
  type PermissionPrompt,
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
 * kept, and the agent gets the instruction to stop. Any failure is a denial.
 */
export async function approve(call: ToolCall): Promise<ToolResult> {
  const given = parseHookInput(Input, call.input);
  const asker = await askerOf(call);
  const prompt = getPrompt(call);
  const hooked = prompt.toCall({
    session: asker.session ?? "",
    dir: call.caller.dir,
    tool: given.tool_name,
    input: given.input,
    toolUseId: given.tool_use_id,
  });
  return resultFor(hooked, await decide(call, hooked), prompt);
}

function getPrompt({ deps }: ToolCall): PermissionPrompt {
  const { permissionPrompt } = deps.clients;
  if (permissionPrompt) return permissionPrompt;
  throw new Refusal("bad_input", "No agent that is known here asks a tool for permission");
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

async function askOrFind(call: ToolCall, hooked: HookCall): Promise<QuestionSnapshot> {
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
function resultFor(hooked: HookCall, reply: HookReply, prompt: PermissionPrompt): ToolResult {
  const said =
    reply.do === "give"
      ? { behavior: "allow", updatedInput: inputFor(hooked, reply.read, prompt) }
      : { behavior: "deny", message: reply.do === "pass" ? "Nobody has answered." : reply.why };
  return { content: [{ type: "text", text: JSON.stringify(said) }] };
}

/** The input for the tool call: with the answers for the program's own question tool, unchanged for any other. */
function inputFor(hooked: HookCall, read: QuestionSnapshot, prompt: PermissionPrompt): unknown {
  if (hooked.is !== "question") return hooked.input;
  return prompt.answeredInput(hooked, read, delimiterFrom(randomBytes(DELIMITER_BYTES)));
}
