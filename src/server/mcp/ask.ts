import { type AskInput, type DoorDefaults, parseAsk } from "../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { isPending } from "../../core/question/question.ts";
import { askOptions, askerOf, nameAsk } from "./asker.ts";
import { type ToolCall, type ToolResult, metaText } from "./caller.ts";
import { askByForm, mayShowForm, recordOffer, takeForm, whileShowingForm } from "./form.ts";
import { handOver, holdFor, windowFor } from "./hand-over.ts";
import { type BegunHold, rejoin } from "./rejoin.ts";
import { mayHaveTask, taskHandle } from "./task.ts";

/** Asks, and gets the answer to the agent in the best way that its client can take it. */
export async function askHuman(call: ToolCall, door: DoorDefaults): Promise<ToolResult> {
  const asked = await ask(call, { ...door, holdMs: door.holdMs ?? call.deps.rules.liveWindowMs });
  const { read, windowMs } = asked;
  const holdAsked = (): Promise<ToolResult> => holdFor(call, asked, windowMs);
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
export async function ask(call: ToolCall, door: DoorDefaults): Promise<BegunHold & { windowMs: number }> {
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
  const isNamed = asker.isNamed || parsed.key !== undefined;
  const again = parsed.key === undefined ? await rejoin(call, asker, input) : undefined;
  if (again) return { ...again, windowMs };
  const { isNew, ...read } = await engine.ask(input, asker.by, {
    ...(await askOptions(call, asker, input)),
    ...(!isNamed && { askedAs: nameAsk(call, input) }),
  });
  if (isNew) call.caller.claim(call.context.mcpReq.id, read.question.id);
  return { read, windowMs, isHeld: isNew && isHeld };
}
