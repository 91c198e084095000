import { z } from "zod";
import { type ToolAsk, approvalContent, changeableCommand, requireConsentOption } from "./approval.ts";
import type { Item } from "./content.ts";
import { plainName } from "../people/person.ts";
import { quoteName, requireVisibleLine } from "../text/foreign-text.ts";
import { type Instant, HOUR_MS, SECOND_MS, epochMs } from "../instant.ts";
import { ItemInput, OptionObject, readItem, secretRefusal } from "./item-input.ts";
import { makePlain, requireBytes } from "../text/plain-text.ts";
import { AfterHold, Approvals, type NotifyTarget, type OnTimeout, Outcome } from "./question.ts";
import { Duration, TimeoutFields, readOnTimeout } from "./timeout-input.ts";
import type { TimeoutPolicy } from "./timeout-policy.ts";
import { Refusal } from "../refusal.ts";
import { Risk, settleRisk } from "./risk.ts";
import type { Rules } from "../rules.ts";
import { asksForSecret } from "../secret/secret-question.ts";
import { parseTraceparent } from "../trail/trace.ts";
import { type FieldShape, camelName, requireKnownFields } from "../door/unknown-field.ts";

/** One question in the form every door translates to. */
export interface AskInput {
  items: Item[];
  context?: string;
  kind: "question" | "approval";
  /** The risk the asker claims; `settleRisk` decides which one counts. */
  risk?: Risk;
  confidence?: number;
  /** How long the caller waits with its agent alive; undefined if it does not wait. */
  holdMs?: number;
  afterHold: AfterHold;
  /** Counted from the ask; undefined if the question never times out. */
  timeoutMs?: number;
  onTimeout: OnTimeout;
  /** The deadline fields the ask set itself; the others are defaults of its door or of the rules. */
  declares: { timeout: boolean; onTimeout: boolean };
  notify: NotifyTarget[];
  to: string[];
  issue?: { repo?: string; number: number };
  /** The client's idempotency key. */
  key?: string;
  approvals: Approvals;
  accepts: Outcome[];
  /** The tool use an approval is about. */
  tool?: ToolAsk;
  via: string;
  /** The trace the ask belongs to, as a `traceparent`. */
  trace?: string;
}

/** The defaults of a door. */
export interface DoorDefaults {
  via: string;
  holdMs?: number;
  afterHold?: AfterHold;
  accepts?: Outcome[];
  timeoutMs?: number | "never";
  onTimeout?: TimeoutPolicy;
  /** The ask has the shape of another program, which may add fields of its own. */
  isForeign?: boolean;
  /** Passed beside the ask, not in it. */
  traceparent?: string;
}

const MAX_DEPTH = 64;
/** A longer file is not sent with the edit of it. */
export const MOST_FILE_CHARS = 200_000;

const NotifyInput = z.union([
  z.string(),
  z
    .object({
      type: z.string(),
      channel: z.string(),
      address: z.string(),
      mention: z.array(z.string()),
      recipients: z.array(z.string()),
      issueNumber: z.int(),
    })
    .partial(),
]);

const ToolInput = z.object({
  name: z.string().min(1).max(200),
  input: z.unknown(),
  reason: z.string().nullish(),
  takes_change: z.boolean().nullish(),
  file: z.string().max(MOST_FILE_CHARS).nullish(),
});

const AskFields = ItemInput.omit({ text: true, id: true }).extend({
  items: z.array(ItemInput).optional(),
  questions: z.array(ItemInput).optional(),
  context: z.string().nullish(),
  questionContext: z.string().nullish(),
  details: z.string().nullish(),
  kind: z.enum(["question", "approval"]).default("question"),
  risk: Risk.optional(),
  confidence: z.number().min(0).max(100).nullish(),
  hold: Duration.optional(),
  timeoutSeconds: z.number().nonnegative().optional(),
  afterHold: AfterHold.optional(),
  timeout: Duration.optional(),
  timeoutHours: z.number().positive().optional(),
  expiresAt: z.iso.datetime({ offset: true }).nullish(),
  ...TimeoutFields.shape,
  declares: z.object({ timeout: z.boolean(), onTimeout: z.boolean() }).partial().optional(),
  notify: z.array(NotifyInput).optional(),
  notifyVia: z.array(NotifyInput).optional(),
  slackChannel: z.string().optional(),
  slackMention: z.array(z.string()).optional(),
  emailRecipients: z.array(z.string()).optional(),
  to: z.array(z.string()).default([]),
  issue: z.object({ repo: z.string().optional(), number: z.int() }).optional(),
  issueNumber: z.int().optional(),
  key: z.string().min(1).max(255).optional(),
  idempotencyKey: z.string().min(1).max(255).optional(),
  approvals: Approvals.partial().optional(),
  accepts: z.array(Outcome).min(1).optional(),
  fingerprint: z.undefined({ error: 'askd computes it; give "tool" with its name and input instead' }).optional(),
  tool: ToolInput.optional(),
  traceparent: z.string().nullish(),
});
type AskFields = z.infer<typeof AskFields>;

let shape: FieldShape | undefined;

/** The fields of an ask. They are read when something is asked: most commands start without the schemas. */
export function askShape(): FieldShape {
  return (shape ??= makeAskShape());
}

function makeAskShape(): FieldShape {
  const item: FieldShape = {
    names: Object.keys(ItemInput.shape),
    within: { options: { names: [...Object.keys(OptionObject.shape), "key"] } },
  };
  return {
    names: Object.keys(AskFields.shape),
    within: {
      ...item.within,
      items: item,
      questions: item,
      approvals: { names: Object.keys(Approvals.shape) },
      tool: { names: Object.keys(ToolInput.shape).map(camelName) },
      issue: { names: ["repo", "number"] },
    },
  };
}

/** Parses an ask in any accepted shape, or refuses it. */
export function parseAsk(raw: unknown, door: DoorDefaults, rules: Rules, now: Instant): AskInput {
  requireKnownFields(raw, askShape(), door.isForeign ?? false);
  const parsed = AskFields.safeParse(camelKeys(raw));
  if (!parsed.success) throw new Refusal("bad_input", `The question cannot be read: ${describeIssue(parsed.error)}`);
  const tool = readTool(parsed.data);
  const fields = tool ? { ...parsed.data, ...approvalContent(tool, riskOf(parsed.data, tool)) } : parsed.data;
  const items = readItems(fields, rules).map((item) => (tool ? { ...item, change: changeableCommand(tool) } : item));
  const context = fields.context ?? fields.questionContext ?? fields.details ?? undefined;
  if (context) requireBytes(context, rules.limits.contextBytes, "context");
  // Tool arguments are only displayed: a prompt in a script asks nobody for a secret.
  if (!tool && asksForSecret({ items, context })) throw secretRefusal();
  const givenMs = readTimeoutMs(fields, door, rules, now);
  const onTimeout = readOnTimeout(fields, items, { onTimeout: door.onTimeout, timeoutMs: givenMs, rules });
  const to = fields.to.map(plainName);
  const approvals: Approvals = {
    need: 1,
    veto: false,
    ...fields.approvals,
    from: (fields.approvals?.from ?? []).map(plainName),
  };
  requireNames([...to, ...approvals.from, ...(onTimeout.steps ?? []).flatMap((step) => step.to)]);
  const timeoutMs = onTimeout.do === "wait" ? undefined : givenMs;
  const holdMs = fields.hold ?? (fields.timeoutSeconds === undefined ? door.holdMs : fields.timeoutSeconds * SECOND_MS);
  const trace = fields.traceparent ?? door.traceparent;
  return {
    items,
    context: context && makePlain(context),
    kind: fields.kind,
    risk: fields.risk,
    confidence: readConfidence(fields.confidence),
    holdMs: holdMs === 0 ? undefined : holdMs,
    afterHold: readAfterHold(fields, door),
    timeoutMs,
    onTimeout,
    declares: {
      timeout: [fields.timeout, fields.timeoutHours, fields.expiresAt].some((given) => given !== undefined),
      onTimeout: (fields.onTimeout ?? fields.timeoutAction) !== undefined,
      ...fields.declares,
    },
    notify: readNotify(fields),
    to,
    issue: readIssue(fields),
    key: fields.key ?? fields.idempotencyKey,
    approvals,
    accepts: fields.accepts ?? door.accepts ?? ["answer", "decide", "clarify"],
    tool,
    via: door.via,
    trace: parseTraceparent(trace) ? trace : undefined,
  };
}

/** Refuses names of people with invisible characters. */
function requireNames(names: readonly string[]) {
  for (const name of names) requireVisibleLine(name, "the name of a person or group");
}

/** Reads the tool of an approval. askd words its question, so that people see exactly what will be allowed. */
function readTool(fields: AskFields): ToolAsk | undefined {
  if (!fields.tool) return undefined;
  const { name, input, reason, takes_change: takesChange, file } = fields.tool;
  if (fields.kind !== "approval") {
    throw new Refusal("bad_input", 'Only an approval is about a tool; add kind "approval", or leave out "tool"');
  }
  const own = (["question", "items", "questions", "options", "context"] as const).find(
    (each) => fields[each] !== undefined && fields[each] !== null,
  );
  if (own) {
    throw new Refusal("bad_input", `askd words the question about a tool itself; leave out "${own}"`, {
      hint: 'Say why in "reason" of "tool"',
    });
  }
  return {
    tool: name,
    input,
    reason: reason ?? undefined,
    takesChange: takesChange ?? undefined,
    file: file ?? undefined,
  };
}

/** The risk that the options of an approval depend on, before the thread that it may continue is known. */
function riskOf({ kind, risk }: AskFields, tool: ToolAsk): Risk {
  return settleRisk({ kind, risk, tool }, undefined, { scope: "agent" }).risk;
}

/** An approval never proceeds on silence. */
function readAfterHold({ kind, afterHold }: AskFields, door: DoorDefaults): AfterHold {
  const after = afterHold ?? door.afterHold ?? "park";
  return kind === "approval" && after === "proceed" ? "park" : after;
}

function readConfidence(given: number | null | undefined) {
  if (typeof given !== "number") return undefined;
  return given > 1 ? given / 100 : given;
}

const VERDICTS = [
  { value: "approve", label: "Approve" },
  { value: "deny", label: "Deny" },
];

/** An approval is given by a choice: one that offers none is approved or denied. */
function withVerdicts(input: ItemInput, kind: AskFields["kind"]): ItemInput {
  const hasOptions = (input.options ?? []).length > 0 || input.type === "yesno";
  return kind === "question" || hasOptions ? input : { ...input, options: VERDICTS, schema: undefined };
}

function readItems(fields: AskFields, rules: Rules): Item[] {
  const inputs =
    fields.items ?? fields.questions ?? (fields.question === undefined ? [] : [{ ...fields, text: fields.question }]);
  if (inputs.length === 0) throw new Refusal("bad_input", 'There is no question; write it in "question" or "items"');
  if (inputs.length > rules.limits.items) {
    throw new Refusal(
      "too_large",
      `${inputs.length} questions were asked at once; at most ${rules.limits.items} are accepted`,
    );
  }
  const items = inputs.map((input, index) => {
    const item = readItem(withVerdicts(input, fields.kind), index, rules.limits);
    if (fields.kind !== "approval") return item;
    requireConsentOption(item.options);
    // Words beside a choice are a note: nothing that somebody writes can be taken for a yes.
    return { ...item, allowText: false };
  });
  const ids = new Set(items.map((item) => item.id));
  if (ids.size < items.length) throw new Refusal("bad_input", "Two items have the same id; give each its own");
  return items;
}

function readTimeoutMs(fields: AskFields, door: DoorDefaults, rules: Rules, now: Instant) {
  if (fields.timeout !== undefined) return fields.timeout;
  if (fields.timeoutHours !== undefined) return fields.timeoutHours * HOUR_MS;
  if (fields.expiresAt) return Math.max(0, Date.parse(fields.expiresAt) - epochMs(now));
  if (door.timeoutMs === "never") return undefined;
  return door.timeoutMs ?? rules.timeoutMs;
}

function readNotify(fields: AskFields): NotifyTarget[] {
  return (fields.notify ?? fields.notifyVia ?? []).map((given) => {
    const input = typeof given === "string" ? { type: given } : given;
    const channel = input.type ?? input.channel ?? "";
    const address = input.address ?? input.recipients?.join(",") ?? addressFor(channel, input, fields);
    const mention = input.mention ?? (channel === "slack" ? fields.slackMention : undefined);
    return { channel, address: address || undefined, mention };
  });
}

function addressFor(channel: string, input: { channel?: string; issueNumber?: number }, fields: AskFields) {
  if (channel === "slack") return input.channel ?? fields.slackChannel;
  if (channel === "email") return fields.emailRecipients?.join(",");
  if (channel === "github") return (input.issueNumber ?? fields.issueNumber)?.toString();
  return undefined;
}

function readIssue({ issue, issueNumber }: AskFields): AskInput["issue"] {
  return issue ?? (issueNumber === undefined ? undefined : { number: issueNumber });
}

/** Our fields are snake_case on the wire, those of the documents camelCase; both are accepted. */
function camelKeys(raw: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new Refusal("too_large", `The question is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(raw)) return raw.map((value) => camelKeys(value, depth + 1));
  if (raw === null || typeof raw !== "object") return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const camel = camelName(name);
      return [camel, camel === "schema" || camel === "tool" ? value : camelKeys(value, depth + 1)];
    }),
  );
}

/** Describes the first issue, with its path. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return "it does not have the expected shape";
  const problem = issue.code === "invalid_value" ? `use ${issue.values.join(", ")}` : issue.message;
  return issue.path.length > 0 ? `${issue.path.map((part) => quoteName(String(part))).join(".")}: ${problem}` : problem;
}
