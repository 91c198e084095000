import { type AskInput, type Door, parseAsk } from "../../core/ask-input.ts";
import type { Read } from "../../core/changes.ts";
import { isPending } from "../../core/question.ts";
import { askOptions, askerOf } from "./asker.ts";
import { type ToolCall, type ToolResult, metaText } from "./caller.ts";
import { askByForm, mayShowForm, takeForm, whileShowingForm } from "./form.ts";
import { handOver, holdFor, windowFor } from "./hand-over.ts";
import { mayHaveTask, taskHandle } from "./task.ts";

/** Asks, and gets the answer to the agent in the best way that its client can take it. */
export async function askHuman(call: ToolCall, door: Door): Promise<ToolResult> {
  const asked = await ask(call, { ...door, holdMs: door.holdMs ?? call.deps.rules.liveWindowMs });
  const { read, windowMs } = asked;
  if (!isPending(read.question)) return handOver(call, read);
  if (mayHaveTask(call, read.run)) return taskHandle(call, read);
  if (!mayShowForm(call, read)) return holdFor(call, read, windowMs);
  if (call.declared.era === "legacy") return whileShowingForm(call, read, () => holdFor(call, read, windowMs));
  return (await takeForm(call, read)) ? holdFor(call, read, windowMs) : askByForm(call, read);
}

/** Asks and returns at once. */
export async function askOnly(call: ToolCall, door: Door): Promise<Read> {
  return (await ask(call, door)).read;
}

/** Asks, to be held for as long as this call can be. */
export async function ask(call: ToolCall, door: Door): Promise<{ read: Read; windowMs: number }> {
  const { engine, rules } = call.deps;
  const asker = await askerOf(call);
  const traceparent = metaText(call.context, "traceparent");
  const parsed = parseAsk(call.input, { ...door, traceparent }, rules, await engine.now());
  const windowMs = parsed.holdMs === undefined ? 0 : windowFor(call, parsed.holdMs);
  const { holdMs: _wanted, ...rest } = parsed;
  const isHeld = windowMs > 0 && door.holdMs !== undefined && !mayHaveTask(call, asker.run);
  const input: AskInput = {
    ...rest,
    ...(isHeld && { holdMs: windowMs }),
    ...(asker.key !== undefined && parsed.key === undefined && { key: asker.key }),
  };
  const read = await engine.ask(input, asker.by, await askOptions(call, asker, input));
  return { read, windowMs };
}
