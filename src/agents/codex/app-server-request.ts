import { z } from "zod";
import { approvalAsk } from "../../core/question/approval.ts";
import type { ToolUse } from "../../core/question/tool-use.ts";
import { WORDS_CHARS, quoteLine } from "../../core/text/foreign-text.ts";
import { provenanceMessage } from "../../core/run/agent-message.ts";
import { findAnswer } from "../../core/question/question.ts";
import { callKey } from "../../core/door/call-key.ts";
import { formAsk, readForm } from "../../core/door/form-ask.ts";
import {
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookReply,
  SERVED,
  answerWords,
  parseHookInput,
} from "../../core/door/hook.ts";

/** By this its model tells a remark from an answer. */
const REMARK = "user_note: ";
const ENDS = /^\s*user_note:/i;
const QUESTION = "item/tool/requestUserInput";
const COMMAND = "item/commandExecution/requestApproval";
const CHANGE = "item/fileChange/requestApproval";
const PERMISSIONS = "item/permissions/requestApproval";
const FORM = "mcpServer/elicitation/request";

const Anything = z.looseObject({ method: z.string(), params: z.unknown().optional() });
const Params = z.looseObject({ threadId: z.string().min(1), turnId: z.string().nullish() });
const ItemParams = Params.extend({ itemId: z.string().min(1), reason: z.string().nullish() });
const Questions = z.looseObject({
  questions: z
    .array(
      z.looseObject({
        id: z.string(),
        options: z.array(z.looseObject({ label: z.string() })).nullish(),
      }),
    )
    .min(1),
});
const Command = ItemParams.extend({
  approvalId: z.string().nullish(),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  networkApprovalContext: z.unknown().optional(),
  additionalPermissions: z.unknown().optional(),
});
const Permissions = ItemParams.extend({ permissions: z.record(z.string(), z.unknown()), cwd: z.unknown().optional() });
const Form = Params.extend({
  serverName: z.string(),
  mode: z.string(),
  message: z.string().default(""),
  requestedSchema: z.unknown().optional(),
  _meta: z.unknown().optional(),
});
const EmptyForm = z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) });
/** The change itself is not in the request but in the item that it is about, which came before. */
const Change = z.object({
  params: ItemParams.extend({ grantRoot: z.unknown().optional() }),
  item: z.looseObject({ changes: z.array(z.unknown()).min(1) }),
});

/** Codex as an app-server: it asks its client, which is us, and can be parked by interrupting its turn. */
export const codexAppRequests: HookClient = {
  agent: "codex",
  ...SERVED,
  parse: parseRequest,
  say: sayResult,
};

function parseRequest(raw: unknown): HookEvent {
  const { method, params } = parseHookInput(Anything, raw);
  switch (method) {
    case QUESTION:
      return { is: "call", call: questionCall(parseHookInput(ItemParams.extend(Questions.shape), params)) };
    case COMMAND:
      return { is: "call", call: commandCall(parseHookInput(Command, params)) };
    case CHANGE:
      return { is: "call", call: changeCall(parseHookInput(Change, raw)) };
    case PERMISSIONS:
      return { is: "call", call: permissionsCall(parseHookInput(Permissions, params)) };
    case FORM:
      return formCall(parseHookInput(Form, params));
    default:
      return { is: "other" };
  }
}

function questionCall(params: z.infer<typeof ItemParams> & z.infer<typeof Questions>): HookCall {
  return {
    ...base(QUESTION, params, params.itemId),
    is: "question",
    tool: "request_user_input",
    input: { questions: params.questions },
    ask: { questions: params.questions },
  };
}

function commandCall(params: z.infer<typeof Command>): HookCall {
  const { command, cwd, networkApprovalContext: network, additionalPermissions: permissions } = params;
  const use = { tool: network ? "the network" : "a command", input: present({ command, cwd, network, permissions }) };
  return { ...base(COMMAND, params, params.approvalId ?? params.itemId), ...approvalOf(use, params.reason) };
}

function changeCall({ params, item }: z.infer<typeof Change>): HookCall {
  const use = { tool: "a file change", input: present({ changes: item.changes, grantRoot: params.grantRoot }) };
  return { ...base(CHANGE, params, params.itemId), ...approvalOf(use, params.reason) };
}

function permissionsCall(params: z.infer<typeof Permissions>): HookCall {
  const use = { tool: "more permissions", input: present({ permissions: params.permissions, cwd: params.cwd }) };
  return { ...base(PERMISSIONS, params, params.itemId), ...approvalOf(use, params.reason) };
}

/** A form without fields asks for leave to use a tool of that server. */
function formCall(params: z.infer<typeof Form>): HookEvent {
  if (params.mode !== "form") return { is: "other" };
  const { serverName: tool, message, requestedSchema: input, _meta: about } = params;
  const call = base(FORM, params, undefined);
  if (Object.keys(parseHookInput(EmptyForm, input).properties).length === 0) {
    return { is: "call", call: { ...call, ...approvalOf({ tool, input: present({ message, about }) }, undefined) } };
  }
  // The server behind the form can take nothing but what it asked for.
  const asked = { ask: formAsk(message, input), door: { accepts: ["answer" as const] } };
  return { is: "call", call: { ...call, is: "form", tool, input, ...asked } };
}

function base(event: string, { threadId }: { threadId: string }, id: string | undefined) {
  const key = id === undefined ? undefined : callKey(threadId, id);
  return { event, session: threadId, dir: undefined, key, isSubagent: false, door: {} };
}

function approvalOf(use: ToolUse, reason: string | null | undefined) {
  return { is: "approval" as const, ...use, ask: approvalAsk({ ...use, reason: reason ?? undefined }) };
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** The result of the request; a call that is parked gets none. */
function sayResult(call: HookCall, reply: HookReply, delimiter: string): object | undefined {
  if (reply.do === "park") return undefined;
  const isGiven = reply.do === "give";
  switch (call.event) {
    case QUESTION:
      return { answers: answersTo(call, reply, delimiter) };
    case FORM:
      if (isGiven) return { action: "accept", content: call.is === "form" ? readForm(call.input, reply.read) : {} };
      return { action: reply.do === "deny" ? "decline" : "cancel", content: null };
    case PERMISSIONS: {
      const { permissions } = parseHookInput(Permissions.pick({ permissions: true }), call.input);
      return { permissions: isGiven ? permissions : {}, scope: "turn" };
    }
    default:
      return { decision: isGiven ? "accept" : "decline" };
  }
}

/** Every question gets something: its answer in the model's own words, and in a note of its kind who gave it. */
function answersTo(call: HookCall, reply: Exclude<HookReply, { do: "park" }>, delimiter: string) {
  const { questions } = parseHookInput(Questions, call.input);
  const said = reply.do === "give" ? provenanceMessage(reply.read, delimiter) : reply.do === "deny" ? reply.why : "";
  return Object.fromEntries(
    questions.map(({ id, options }, index) => {
      const labels = (options ?? []).map(({ label }) => label);
      const given = reply.do === "give" ? answerWords(reply.read, index, { labels, delimiter, ends: ENDS }) : [];
      const notes = index === 0 ? [...notesOf(reply), said] : [];
      return [id, { answers: [...given, ...notes.filter(Boolean).map((note) => `${REMARK}${note}`)] }];
    }),
  );
}

function notesOf(reply: HookReply): string[] {
  const answer = reply.do === "give" ? findAnswer(reply.read.question) : undefined;
  return answer?.outcome === "answer" && answer.note !== undefined
    ? [`Note: ${quoteLine(answer.note, WORDS_CHARS)}`]
    : [];
}
