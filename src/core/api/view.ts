import { z } from "zod";
import { actorName } from "../people/actor.ts";
import { AnswerSchema } from "../answer/answer-schema.ts";
import type { QuestionSnapshot } from "../changes.ts";
import type { Content, Item } from "../question/content.ts";
import { FactSource, RunFact, RunSources, unverifiedFacts } from "../trail/fact-source.ts";
import { shortId } from "../id.ts";
import { Instant } from "../instant.ts";
import { type AwayMachine, type KnownMachines, findAwayMachine, machineName } from "../run/machine.ts";
import { type Answer, NO_REASON, Outcome, type Question, findAnswer, isPending } from "../question/question.ts";
import { Risk, isRiskUnverified } from "../question/risk.ts";
import { TimeoutPolicy } from "../question/timeout-policy.ts";
import { type Run, RunStatus, findAgentSession, isAnswerUntaken } from "../run/run.ts";
import { toSnakeCase } from "./snake-case.ts";

/** Null is what is not there. */
export const MaybeText = z.string().nullable();
export const MaybeInstant = Instant.nullable();

const Answers = z.record(z.string(), z.object({ values: z.array(z.string()), text: z.string().optional() }));

/** The state of a question for programs, and the answer where there is one; what is not there is left out. */
const Said = z.object({ text: z.string(), by: z.string(), at: Instant });

export const CheckView = z.object({
  status: z.enum(["pending", "answered", "timeout", "cancelled"]),
  answer: z.string().optional(),
  answers: Answers.optional(),
  outcome: Outcome.optional(),
  note: z.string().optional().describe("Beside an answer, or in place of one from a person who withdrew the question"),
  answered_by: z.string().optional(),
  answered_at: Instant.optional(),
  /** Set when a rule answered, not a person. */
  policy: TimeoutPolicy.optional(),
  /** Set when a person answered after the deadline. */
  forced: z.literal(true).optional(),
  reason: z.string().optional(),
  /** Corrections after it was answered. */
  amendments: z.array(Said).optional(),
});
export type CheckView = z.infer<typeof CheckView>;

const ItemView = z.object({
  id: z.string(),
  header: MaybeText,
  text: z.string(),
  options: z.array(
    z.object({
      key: z.string(),
      value: z.string(),
      label: z.string(),
      description: MaybeText,
      preview: MaybeText,
      recommended: z.boolean(),
    }),
  ),
  multiple: z.boolean(),
  allow_text: z.boolean(),
  placeholder: MaybeText,
  schema: AnswerSchema.nullable(),
  change: MaybeText.describe("The command that allow-changed replaces with its text; null if the asker takes no other"),
});

/** A machine as programs see it. */
export const MachineView = z.object({ id: z.string(), name: z.string(), heard_at: MaybeInstant });
const Away = MachineView.nullable().describe(
  "The machine that the run waits for, where that was not heard of for a minute",
);

export function viewMachine({ id, heardAt }: Pick<AwayMachine, "id" | "heardAt">): z.infer<typeof MachineView> {
  return { id, name: machineName(id), heard_at: heardAt ?? null };
}

const MaybeIssue = z.object({ repo: MaybeText, number: z.int() }).nullable();

/** A question as programs see it everywhere, with the run it belongs to: null is what is not there. */
export const QuestionView = z.object({
  id: z.string(),
  short_id: z.string(),
  run_id: z.string(),
  run_number: z.int(),
  run_name: z.string(),
  external_id: MaybeText,
  run_status: RunStatus,
  machine: Away,
  status: CheckView.shape.status,
  title: z.string(),
  items: z.array(ItemView),
  context: MaybeText,
  kind: z.enum(["question", "approval"]),
  risk: Risk,
  risk_source: FactSource,
  allowed_by: MaybeText.describe("The earlier answer that allowed this for the rest of the run"),
  fingerprint: MaybeText.describe("Names the tool and its exact arguments; askd computes it"),
  unverified: z
    .array(z.enum([...RunFact.options, "risk"]))
    .describe("Facts of the question and its run that only the asker says"),
  confidence: z.number().nullable(),
  asked_at: Instant,
  asked_by: z.string(),
  via: z.string(),
  due_at: MaybeInstant,
  on_timeout: z.looseObject({ do: TimeoutPolicy }),
  held_until: MaybeInstant,
  assigned_to: z.array(z.string()),
  issue: MaybeIssue,
  notify: z.array(
    z.object({
      channel: z.string(),
      address: MaybeText,
      address_ignored: z.boolean().describe("The asker gave an address that the settings do not allow"),
      mention: z.array(z.string()),
    }),
  ),
  claimed_by: MaybeText,
  snoozed_until: MaybeInstant,
  settling_until: MaybeInstant,
  amendments: z.array(Said),
  comments: z.array(Said),
  votes: z.int(),
  votes_needed: z.int(),
  votes_unreachable: z.boolean().describe("Too few people are left who may vote"),
  answer: MaybeText,
  answers: Answers.nullable(),
  outcome: Outcome.nullable(),
  note: MaybeText,
  answered_by: MaybeText,
  answered_at: MaybeInstant,
  policy: TimeoutPolicy.nullable(),
  forced: z.boolean(),
  reason: MaybeText,
  version: z.int(),
});
export type QuestionView = z.infer<typeof QuestionView>;

export const QUESTION_FIELDS: readonly string[] = Object.keys(QuestionView.shape);
export const CHECK_FIELDS: readonly string[] = Object.keys(CheckView.shape);

/** A run as programs see it: all that people may see, and nothing that authorises. */
export const RunView = z.object({
  id: z.string(),
  number: z.int(),
  name: z.string(),
  external_id: MaybeText,
  status: RunStatus,
  /** The answer is there, and only a person can bring it to the agent. */
  answer_untaken: z.boolean(),
  reason: MaybeText,
  resumes_at: MaybeInstant.describe("When it goes on by itself, after a failure of the model's API or a usage limit"),
  may_have_asked: z.boolean().describe("Its agent printed something like a question that could not be read"),
  agent: z.string(),
  session: MaybeText,
  host: z.string(),
  machine: Away,
  dir: MaybeText,
  repo: MaybeText,
  branch: MaybeText,
  issue: MaybeIssue,
  labels: z.array(z.string()),
  sources: RunSources.describe("Who vouches for agent, repo and labels; asker is nobody but the asker"),
  priority: z.int(),
  size: MaybeText,
  parent_id: MaybeText,
  pending_question_id: MaybeText,
  created_at: Instant,
  started_at: MaybeInstant,
  parked_at: MaybeInstant,
  ended_at: MaybeInstant,
  result: z
    .object({ summary: z.string().optional(), details: z.string().optional(), issues: z.array(z.string()).optional() })
    .nullable(),
});
export type RunView = z.infer<typeof RunView>;

export const RUN_FIELDS: readonly string[] = Object.keys(RunView.shape);

export function viewRun(run: Run, machines?: KnownMachines): RunView {
  return {
    id: run.id,
    number: run.number,
    name: run.name,
    external_id: run.externalId ?? null,
    status: run.status,
    answer_untaken: isAnswerUntaken(run),
    reason: run.reason ?? null,
    resumes_at: run.resumesAt ?? null,
    may_have_asked: run.mayHaveAsked !== undefined,
    agent: run.agent,
    session: findAgentSession(run) ?? null,
    host: run.host,
    machine: viewAway(run, machines),
    dir: run.dir ?? null,
    repo: run.repo ?? null,
    branch: run.branch ?? null,
    issue: viewIssue(run),
    labels: run.labels,
    sources: run.sources ?? { agent: "asker", repo: "asker", labels: "asker" },
    priority: run.priority,
    size: run.size ?? null,
    parent_id: run.parentId ?? null,
    pending_question_id: run.pendingId ?? null,
    created_at: run.createdAt,
    started_at: run.startedAt ?? null,
    parked_at: run.parkedAt ?? null,
    ended_at: run.endedAt ?? null,
    result: run.result ?? null,
  };
}

export function viewCheck({ question, content }: Pick<QuestionSnapshot, "question" | "content">): CheckView {
  const answer = findAnswer(question);
  return {
    status: question.status,
    ...(answer && {
      answer: valuesOf(answer, content).join(content.items.length === 1 ? "," : "\n"),
      answers: answer.items,
      outcome: answer.outcome,
      ...(answer.note && { note: answer.note }),
      answered_by: actorName(answer.by),
      answered_at: answer.at,
    }),
    ...(question.status === "timeout" && {
      policy: question.policy,
      ...(question.forced && { forced: true as const }),
    }),
    ...(question.status === "cancelled" && viewCancellation(question)),
    ...(question.amendments.length > 0 && { amendments: question.amendments.map(viewSaid) }),
  };
}

/** A note alone is reason enough. */
function viewCancellation({ reason, note }: Extract<Question, { status: "cancelled" }>) {
  if (note === undefined) return { reason };
  return { ...(reason !== NO_REASON && { reason }), note };
}

function viewIssue({ issue }: Pick<Run, "issue">): z.infer<typeof MaybeIssue> {
  return issue ? { repo: issue.repo ?? null, number: issue.number } : null;
}

function viewSaid({ text, by, at }: { text: string; by: Answer["by"]; at: Instant }): z.infer<typeof Said> {
  return { text, by: actorName(by), at };
}

export function viewQuestion(read: QuestionSnapshot, machines?: KnownMachines): QuestionView {
  const { run, question, content } = read;
  return {
    id: question.id,
    short_id: shortId(question.id),
    run_id: run.id,
    run_number: run.number,
    run_name: run.name,
    external_id: run.externalId ?? null,
    run_status: run.status,
    machine: viewAway(run, machines),
    title: question.title,
    items: content.items.map(viewItem),
    context: content.context ?? null,
    kind: question.kind,
    risk: question.risk,
    risk_source: question.riskSource ?? "asker",
    allowed_by: findAnswer(question)?.allowedBy ?? null,
    fingerprint: question.fingerprint ?? null,
    unverified: unverifiedIn(question, run),
    confidence: question.confidence ?? null,
    asked_at: question.askedAt,
    asked_by: question.askedBy.id,
    via: question.via,
    due_at: question.dueAt ?? null,
    on_timeout: QuestionView.shape.on_timeout.parse(toSnakeCase(question.onTimeout)),
    held_until: isPending(question) ? (question.hold?.until ?? null) : null,
    assigned_to: question.to,
    issue: viewIssue(question),
    notify: question.notify.map(({ channel, address = null, mention = [], isAddressIgnored = false }) => ({
      channel,
      address,
      address_ignored: isAddressIgnored,
      mention,
    })),
    claimed_by: question.claim ? actorName(question.claim.by) : null,
    snoozed_until: question.snoozedUntil ?? null,
    settling_until: isPending(question) ? (question.settling?.until ?? null) : null,
    amendments: question.amendments.map(viewSaid),
    comments: question.comments.map(viewSaid),
    votes: question.votes.length,
    votes_needed: question.approvals.need,
    votes_unreachable: question.status === "pending" && question.isUnreachable === true,
    ...NOTHING_SAID,
    ...viewCheck(read),
    version: question.version,
  };
}

function unverifiedIn(question: Question, run: Run): QuestionView["unverified"] {
  return [...unverifiedFacts(run), ...(isRiskUnverified(question) ? (["risk"] as const) : [])];
}

function viewAway(run: Run, machines: KnownMachines | undefined): z.infer<typeof MachineView> | null {
  const away = machines && findAwayMachine(run, machines);
  return away ? viewMachine(away) : null;
}

/** The answer as a script reads it: values, not labels; with several items each line says which it is for. */
export function valuesOf(answer: Answer, content: Content): string[] {
  return content.items.flatMap((item) => {
    const given = answer.items[item.id];
    const chosen = given?.values ?? recommendedValues(item, answer);
    const values = given?.text === undefined ? chosen : [...chosen, given.text];
    return content.items.length === 1 ? values : values.map((value) => `${item.id}=${value}`);
  });
}

/** An answer that leaves the choice to the asker has the values that the asker recommended. */
function recommendedValues(item: Item, answer: Answer) {
  if (answer.outcome !== "decide") return [];
  return item.options.filter((option) => option.recommended).map((option) => option.value);
}

const NOTHING_SAID = {
  answer: null,
  answers: null,
  outcome: null,
  note: null,
  answered_by: null,
  answered_at: null,
  policy: null,
  forced: false,
  reason: null,
} as const;

function viewItem(item: Item): z.infer<typeof ItemView> {
  return {
    id: item.id,
    header: item.header ?? null,
    text: item.text,
    options: item.options.map((option) => ({
      key: option.key,
      value: option.value,
      label: option.label,
      description: option.description ?? null,
      preview: option.preview ?? null,
      recommended: option.recommended ?? false,
    })),
    multiple: item.multiple,
    allow_text: item.allowText,
    placeholder: item.placeholder ?? null,
    change: item.change ?? null,
    schema: item.schema ?? null,
  };
}
