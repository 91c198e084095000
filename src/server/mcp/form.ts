import { z } from "zod";
import type { ElicitRequestFormParams, InputRequest, InputRequiredResult } from "@modelcontextprotocol/server";
import { type Actor, elicitationChannel, weakerStrength } from "../../core/people/actor.ts";
import type { AnswerInput } from "../../core/answer/answer-input.ts";
import type { AnswerField } from "../../core/answer/answer-schema.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Item } from "../../core/question/content.ts";
import { isAttended } from "../../core/door/client-profile.ts";
import type { RunId } from "../../core/id.ts";
import { HOUR_MS } from "../../core/instant.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { McpCaller, ToolCall, ToolResult } from "./caller.ts";

const KEY = "answer";
/** A form stays open as long as the call is held; this only bounds a client that never replies. */
const LONGEST_FORM_MS = 24 * HOUR_MS;
/** The words of the trail for a form that was not shown. */
const OFFERED = "An agent cannot answer a question in the form of its own client; a person has to";

const Reply = z.object({ action: z.string(), content: z.record(z.string(), z.unknown()).nullish() });

/**
 * Says whether the question may be shown at the client: only where a person is said to sit there, and never below a live
 * run, where the client is the agent's own. Only the client vouches for the person who replies.
 */
export async function mayShowForm(call: ToolCall, read: QuestionSnapshot): Promise<boolean> {
  return call.caller.person !== undefined && fitsForm(call, read) && (await findAgentAbove(call.caller)) === undefined;
}

/** Records that an agent in a live run offered itself as the person at its client. */
export async function recordOffer(call: ToolCall, read: QuestionSnapshot): Promise<void> {
  const runId = fitsForm(call, read) ? await findAgentAbove(call.caller) : undefined;
  if (runId !== undefined) await call.deps.engine.refuse(read.question.id, OFFERED, agentAt(call, runId));
}

/** Returns whether the client can show the question, and the question may be shown there. */
function fitsForm({ declared, caller, profile }: ToolCall, { run, question, content }: QuestionSnapshot) {
  return (
    declared.form &&
    (caller.isAttended ?? isAttended(profile, caller.env)) &&
    // Nobody sits at the headless client of a run that we start again ourselves.
    run.giveBack === "poll" &&
    question.kind !== "approval" &&
    question.risk !== "high" &&
    content.items.every((item) => item.schema?.type !== "object")
  );
}

function agentAt(call: ToolCall, runId: RunId): Actor {
  const channel = elicitationChannel(call.client?.name);
  return { scope: "agent", id: call.profile.agent, channel, strength: "none", runId };
}

/** Asks by a result that the client answers with a new request; the question waits on every other surface as well. */
export async function askByForm(call: ToolCall, read: QuestionSnapshot): Promise<InputRequiredResult> {
  await call.deps.engine.endHold(read.question.id, "gone"); // until the client comes back nobody holds
  return call.sdk.inputRequired({ inputRequests: { [KEY]: call.sdk.inputRequired.elicit(formParams(read)) } });
}

export function formRequest(call: ToolCall, read: QuestionSnapshot): InputRequest {
  return call.sdk.inputRequired.elicit(formParams(read));
}

/** Shows the question at the client while it waits elsewhere; the first reply wins and the form goes away. */
export async function whileShowingForm(
  call: ToolCall,
  read: QuestionSnapshot,
  wait: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const over = new AbortController();
  const shown = call.context.mcpReq
    .elicitInput(formParams(read), { signal: over.signal, timeout: LONGEST_FORM_MS })
    .then((reply) => answerWith(call, read, reply))
    .catch((error: unknown) => {
      // Closed because an answer came from elsewhere, or a client that cannot show it after all.
      if (!over.signal.aborted && !call.signal.aborted) call.deps.onBug(error);
    });
  const result = await wait();
  over.abort();
  await shown;
  return result;
}

/** Takes the reply that a request brought along. Says whether there was one, whatever it said. */
export async function takeForm(
  call: ToolCall,
  read: QuestionSnapshot,
  responses: Record<string, unknown> | undefined = call.context.mcpReq.inputResponses,
): Promise<boolean> {
  if (responses?.[KEY] === undefined) return false;
  const { person } = call.caller;
  if (person && fitsForm(call, read)) await answerWith(call, read, responses[KEY]);
  return true;
}

async function answerWith(call: ToolCall, read: QuestionSnapshot, reply: unknown) {
  const parsed = Reply.safeParse(reply);
  const { person } = call.caller;
  if (!parsed.success || parsed.data.action !== "accept" || !person || !isPending(read.question)) return;
  const items = readItems(read.content.items, parsed.data.content ?? {});
  if (Object.keys(items).length === 0) return;
  const input: AnswerInput = { items, outcome: "answer", force: false, confirmed: false, undoMs: 0, resume: true };
  try {
    await call.deps.engine.answer(read.question.id, input, await answererAt(call, person));
  } catch (error) {
    // Somebody was faster, or it does not fit: the question stays as it is, and that is what the call returns.
    if (!(error instanceof Refusal)) throw error;
  }
}

/** The actor who replied in the form: the agent itself below a live run, else a person that only the client vouches for. */
async function answererAt(call: ToolCall, person: Actor): Promise<Actor> {
  const runId = await findAgentAbove(call.caller);
  if (runId !== undefined) return agentAt(call, runId);
  const channel = elicitationChannel(call.client?.name);
  return { ...person, channel, strength: weakerStrength(person.strength, "bearer") };
}

function readItems(items: readonly Item[], content: Record<string, unknown>) {
  const entries = items.flatMap((item, index): Array<[string, { values: string[]; text?: string }]> => {
    const text: unknown = content[textField(index)];
    const chosen: unknown = content[choiceField(index)];
    if (typeof text === "string" && text.trim() !== "") return [[item.id, { values: [], text }]];
    if (Array.isArray(chosen) && chosen.length > 0) return [[item.id, { values: chosen.map(String) }]];
    if (typeof chosen === "string" || typeof chosen === "number" || typeof chosen === "boolean") {
      return [[item.id, item.options.length > 0 ? { values: [String(chosen)] } : { values: [], text: String(chosen) }]];
    }
    return [];
  });
  return Object.fromEntries(entries);
}

function choiceField(index: number) {
  return `item_${index + 1}`;
}

function textField(index: number) {
  return `item_${index + 1}_text`;
}

type FormField = ElicitRequestFormParams["requestedSchema"]["properties"][string];

function formParams({ content }: QuestionSnapshot): Omit<ElicitRequestFormParams, "mode"> & { mode: "form" } {
  const properties: Record<string, FormField> = {};
  const required: string[] = [];
  content.items.forEach((item, index) => {
    properties[choiceField(index)] = mainField(item);
    if (item.options.length > 0 && item.allowText) {
      properties[textField(index)] = { type: "string", title: "Or in your own words" };
    } else required.push(choiceField(index));
  });
  const message = content.items.map((item) => item.text).join("\n");
  return {
    mode: "form",
    message: content.context === undefined ? message : `${message}\n\n${content.context}`,
    requestedSchema: { type: "object", properties, ...(required.length > 0 && { required }) },
  };
}

function mainField(item: Item): FormField {
  const title = item.header ?? item.text.slice(0, 60);
  const names = { title, description: item.text };
  if (item.schema && item.schema.type !== "object") return { ...names, ...typedField(item.schema) };
  if (item.options.length === 0) return { type: "string", ...names };
  const choices = item.options.map((option) => ({
    const: option.value,
    title: option.description ? `${option.label}: ${option.description}` : option.label,
  }));
  return item.multiple
    ? { type: "array", ...names, items: { anyOf: choices }, minItems: 1 }
    : { type: "string", ...names, oneOf: choices };
}

function typedField(field: AnswerField): FormField {
  const { title: _title, description: _description, type, ...rest } = field;
  if (type === "boolean") return { type };
  if (type === "string")
    return rest.enum ? { type, enum: rest.enum } : { type, ...pick(rest, ["minLength", "maxLength", "format"]) };
  return { type, ...pick(rest, ["minimum", "maximum"]) };
}

function pick<Value extends object, Name extends keyof Value>(value: Value, names: readonly Name[]) {
  const picked: Partial<Pick<Value, Name>> = {};
  for (const name of names) if (value[name] !== undefined) picked[name] = value[name];
  return picked;
}

/** The run of an agent that has started this client, or may have. */
async function findAgentAbove(caller: McpCaller): Promise<RunId | undefined> {
  return (await caller.findRunAbove?.()) ?? caller.findHiddenRun?.();
}
