import { type AskInput, type DoorDefaults, parseAsk } from "../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { askOptions, askerOf, nameAsk } from "./asker.ts";
import { type ToolCall, type ToolResult, metaText } from "./caller.ts";
import { askByForm, mayShowForm, recordOffer, takeForm, whileShowingForm } from "./form.ts";
import { handOver, holdFor, windowFor, bringOut, waitFor } from "./hand-over.ts";
import { type BegunHold, findAskedElsewhere, rejoin } from "./rejoin.ts";
import { mayHaveTask, taskHandle } from "./task.ts";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { allowedInput } from "../../core/question/approval.ts";
import { isAskedAgain } from "../../core/question/ask.ts";
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
import { Refusal } from "../../core/refusal.ts";

const Input = z.looseObject({
  tool_name: z.string().min(1),
  input: z.unknown(),
  tool_use_id: z.string().min(1),
});

/** Asks, and gets the answer to the agent in the best way that its client can take it. */
export async function askHuman(call: ToolCall, door: DoorDefaults): Promise<ToolResult> {
  const asked = await ask(call, { ...door, holdMs: door.holdMs ?? call.deps.rules.liveWindowMs });
  const { read, windowMs } = asked;
  const holdAsked = () => holdFor(call, asked, windowMs);
  if (!isPending(read.question)) return handOver(call, read);
  const isShown = await mayShowForm(call, read);
  if (!isShown) await recordOffer(call, read);
  if (mayHaveTask(call, read.run)) return taskHandle(call, read);
  if (!isShown) return holdAsked();
  if (call.declared.era === "legacy") return whileShowingForm(call, read, holdAsked);
  return (await takeForm(call, read)) ? holdAsked() : askByForm(call, read);
}

/** Asks and returns at once. */
export async function askOnly(call: ToolCall, door: DoorDefaults): Promise<QuestionSnapshot> {
  return (await ask(call, door)).read;
}

/** Asks, to be held as long as this call can be; an open question that the same client asked before is continued. */
async function ask(
  call: ToolCall,
  door: DoorDefaults,
  key: "of the ask" | "of the call" = "of the ask",
): Promise<BegunHold & { windowMs: number }> {
  const { engine, rules } = call.deps;
  const asker = await askerOf(call);
  const traceparent = metaText(call.context, "traceparent") ?? call.caller.env["TRACEPARENT"];
  const parsed = parseAsk(call.input, { ...door, traceparent }, rules, await engine.now());
  const windowMs = parsed.holdMs === undefined ? 0 : windowFor(call, parsed.holdMs);
  const { holdMs: _wanted, ...rest } = parsed;
  const isHeld = windowMs > 0 && door.holdMs !== undefined && !mayHaveTask(call, asker.run);
  const input: AskInput = {
    ...rest,
    ...(isHeld && { holdMs: windowMs }),
    ...(asker.key !== undefined && parsed.key === undefined && { key: asker.key }),
  };
  const isNamed = asker.isNamed || (key === "of the ask" && parsed.key !== undefined);
  const again = parsed.key === undefined ? await rejoin(call, asker, input) : undefined;
  if (again) return { ...again, windowMs };
  const { isNew, ...read } = await engine.ask(input, asker.by, {
    ...(await askOptions(call, asker, input)),
    ...(!isNamed && { askedAs: nameAsk(call, input) }),
  });
  if (isNew) call.caller.claim(call.context.mcpReq.id, read.question.id);
  call.caller.onAsked?.(read.question);
  return { read, windowMs, isHeld: isNew && isHeld };
}

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

function getPrompt({ deps }: ToolCall) {
  const { permissionPrompt } = deps.clients;
  if (permissionPrompt) return permissionPrompt;
  throw new Refusal("bad_input", "No agent that is known here asks a tool for permission");
}

async function decide(call: ToolCall, hooked: HookCall) {
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

async function askOrFind(call: ToolCall, hooked: HookCall) {
  const { engine, rules } = call.deps;
  const raw = { ...hooked.ask, key: hooked.key };
  const door = { via: "mcp", isForeign: true, holdMs: rules.liveWindowMs };
  const input = parseAsk(raw, door, rules, await engine.now());
  const asker = await askerOf(call);
  const { run } = asker;
  const ids = run ? [...(run.pendingId ? [run.pendingId] : []), ...run.owes] : [];
  const open = await Promise.all(ids.map((id) => engine.read(id)));
  const elsewhere = await findAskedElsewhere(call, asker, input);
  const again =
    open.find(({ question }) => isAskedAgain(question, input)) ??
    elsewhere.find(({ question }) => isAskedAgain(question, input) && claim(call, question));
  if (again) return waitFor(call, { read: again, isHeld: false }, windowFor(call, rules.liveWindowMs));
  const asked = await ask({ ...call, input: raw }, door, "of the call");
  return waitFor(call, asked, asked.windowMs);
}

function claim({ caller, context }: ToolCall, { id }: Question) {
  return caller.claim(context.mcpReq.id, id);
}

/** One text block in the words of that program. */
function resultFor(hooked: HookCall, reply: HookReply, prompt: PermissionPrompt): ToolResult {
  const said =
    reply.do === "give"
      ? { behavior: "allow", updatedInput: inputFor(hooked, reply.read, prompt) }
      : { behavior: "deny", message: reply.do === "pass" ? "Nobody has answered." : reply.why };
  return { content: [{ type: "text", text: JSON.stringify(said) }] };
}

/** The input for the tool call: with the answers for the program's own question tool, or as a person changed it. */
function inputFor(hooked: HookCall, read: QuestionSnapshot, prompt: PermissionPrompt) {
  if (hooked.is !== "question") return allowedInput(read, hooked.input);
  return prompt.answeredInput(hooked, read, delimiterFrom(randomBytes(DELIMITER_BYTES)));
}
