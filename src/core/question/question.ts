import { z } from "zod";
import { Actor } from "../people/actor.ts";
import { FactSource } from "../trail/fact-source.ts";
import { DeliveryRef } from "../channel/delivery/delivery-ref.ts";
import { OutcomeId, QuestionId, RunId } from "../id.ts";
import { Instant } from "../instant.ts";
import { Refusal } from "../refusal.ts";
import { Risk } from "./risk.ts";
import { PermissionScope } from "./run-permission.ts";
import { TimeoutPolicy } from "./timeout-policy.ts";
import type { Run } from "../run/run.ts";

export const Outcome = z.enum(["answer", "decide", "clarify"]);
export type Outcome = z.infer<typeof Outcome>;

/** The answer of a person, or of a policy that the ask declared. */
export const Answer = z.object({
  id: OutcomeId,
  outcome: Outcome,
  /** Chosen values and text, by item id. */
  items: z.record(z.string(), z.object({ values: z.array(z.string()), text: z.string().optional() })),
  note: z.string().optional(),
  /** The template the text was taken from. */
  template: z.string().optional(),
  by: Actor,
  at: Instant,
  /** The policy that answered in place of a person. */
  policy: z.string().optional(),
  /** The earlier answer of a person that allowed this for the rest of the run. */
  allowedBy: OutcomeId.optional(),
  /** The question of that answer. */
  allowedIn: QuestionId.optional(),
});
export type Answer = z.infer<typeof Answer>;

/**
 * Whether an outcome has reached the agent. It is `given` only on evidence: the agent's own record shows it, the agent
 * asked again after it was handed over in the same start, or the call that waited for it returned it.
 */
export const Handover = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("owed"),
    /** Stored until somebody resumes the run explicitly. */
    isHeldBack: z.literal(true).optional(),
    /** An earlier start may have shown it already. */
    isRepeated: z.literal(true).optional(),
  }),
  z.object({
    state: z.literal("handing"),
    epoch: z.int(),
    at: Instant,
    /** With a start of the agent, or as the result of a waiting call. */
    by: z.enum(["start", "call"]).optional(),
    /** The process that writes it out, if it can be named. */
    holder: z.string().max(200).optional(),
    /** An earlier start may have shown it already; the message says so. */
    isRepeated: z.literal(true).optional(),
    /**
     * Handed to a waiting call; if the agent ends without it, it is stored until somebody resumes the run explicitly.
     */
    isHeldBack: z.literal(true).optional(),
  }),
  z.object({ state: z.literal("given"), at: Instant, witness: z.string() }),
  z.object({
    state: z.literal("void"),
    reason: z.string(),
    /** A start may have shown it before it was given up. */
    isRepeated: z.literal(true).optional(),
  }),
]);
export type Handover = z.infer<typeof Handover>;

export const EscalationStep = z.object({
  afterMs: z.int().positive(),
  to: z.array(z.string()),
  channels: z.array(z.string()),
});
export type EscalationStep = z.infer<typeof EscalationStep>;

/** The policy for the deadline. */
export const OnTimeout = z.object({
  do: TimeoutPolicy,
  /** The answer of `default`, as a person would type it. */
  answer: z.string().optional(),
  steps: z.array(EscalationStep).max(10).optional(),
  then: TimeoutPolicy.exclude(["escalate"]).optional(),
  addLabel: z.string().optional(),
  comment: z.string().optional(),
  notifyChannel: z.string().optional(),
  assignTo: z.string().optional(),
  markAs: z.string().optional(),
});
export type OnTimeout = z.infer<typeof OnTimeout>;

/** One channel and address to notify. */
export const NotifyTarget = z.object({
  channel: z.string(),
  address: z.string().optional(),
  mention: z.array(z.string()).optional(),
  /** The asker gave an address that the settings do not allow. */
  isAddressIgnored: z.literal(true).optional(),
});
export type NotifyTarget = z.infer<typeof NotifyTarget>;

export const Approvals = z.object({ need: z.int().min(1).max(20), from: z.array(z.string()), veto: z.boolean() });
export type Approvals = z.infer<typeof Approvals>;

export const Vote = z.object({ by: Actor, at: Instant, answer: Answer });
export type Vote = z.infer<typeof Vote>;

/**
 * The effect of a hold that ends without an answer: `park` stops the agent, `proceed` lets it continue on its own
 * judgment, `keep` leaves it running because it asks again.
 */
export const AfterHold = z.enum(["park", "proceed", "keep"]);
export type AfterHold = z.infer<typeof AfterHold>;

/** The caller that waits with its agent alive, and until when. */
export const Hold = z.object({
  until: Instant,
  after: AfterHold,
  windowMs: z.int(),
  /** The waiting process, if its liveness can be checked. */
  holder: z.string().max(200).optional(),
});
export type Hold = z.infer<typeof Hold>;

const Amendment = z.object({ id: OutcomeId, text: z.string(), by: Actor, at: Instant, handover: Handover });
export type Amendment = z.infer<typeof Amendment>;

const QuestionFields = z.object({
  id: QuestionId,
  version: z.int(),
  runId: RunId,
  /** The ask key: with a client's own key, the same question for ever. */
  key: z.string(),
  content: z.string(),
  title: z.string(),
  kind: z.enum(["question", "approval"]),
  risk: Risk,
  /** The source of the risk; questions stored by earlier versions have none. */
  riskSource: FactSource.optional(),
  confidence: z.number().min(0).max(1).optional(),
  askedAt: Instant,
  askedBy: Actor,
  /** The door it came through. */
  via: z.string(),
  dueAt: Instant.optional(),
  /** The original duration; undefined if the question never times out. */
  timeoutMs: z.int().optional(),
  onTimeout: OnTimeout,
  escalated: z.int(),
  /** When it was last escalated: reminders count from there. */
  escalatedAt: Instant.optional(),
  /** The outcomes the asker accepts: a shell script cannot take `clarify`. */
  accepts: z.array(Outcome),
  notify: z.array(NotifyTarget),
  /** The rule of the settings that chose its people or channels. */
  route: z.string().optional(),
  /** The messages about it, one per channel and recipient; questions stored by earlier versions have none. */
  deliveries: z.array(DeliveryRef).optional(),
  /** How many reminders went out; a reminder that finds nobody to remind does not count. */
  nudges: z.int().optional(),
  /** People it is for who are away, with those who get it in their place. */
  delegates: z.array(z.object({ person: z.string(), delegate: z.string() })).optional(),
  /** The assigned people or groups. */
  to: z.array(z.string()),
  issue: z.object({ repo: z.string().optional(), number: z.int() }).optional(),
  approvals: Approvals,
  /** Binds an approval to the exact arguments. */
  fingerprint: z.string().optional(),
  /** The scope of an answer for the rest of the run. */
  permits: PermissionScope.optional(),
  /** The first question of the thread this one continues. */
  thread: QuestionId.optional(),
  votes: z.array(Vote),
  /** The people who may still vote cannot decide it any more, as far as the list of people was last looked at. */
  isUnreachable: z.literal(true).optional(),
  claim: z.object({ by: Actor, at: Instant }).optional(),
  snoozedUntil: Instant.optional(),
  comments: z.array(z.object({ by: Actor, at: Instant, text: z.string() })),
  reminders: z.int(),
  amendments: z.array(Amendment),
});

/** A question of an agent, in one of four states; the last three are final. */
export const Question = z.discriminatedUnion("status", [
  QuestionFields.extend({
    status: z.literal("pending"),
    hold: Hold.optional(),
    /** A reply in its undo window; other replies are refused meanwhile. */
    settling: z
      .object({
        answer: Answer,
        until: Instant,
        /** The answer will be stored without resuming the run. */
        isHeldBack: z.literal(true).optional(),
      })
      .optional(),
  }),
  QuestionFields.extend({ status: z.literal("answered"), answer: Answer, handover: Handover }),
  QuestionFields.extend({
    status: z.literal("timeout"),
    timedOutAt: Instant,
    policy: TimeoutPolicy,
    /** The answer of the policy, if it gave one. */
    answer: Answer.optional(),
    handover: Handover,
    /** A forced answer, given after the deadline. */
    forced: z.object({ answer: Answer, handover: Handover }).optional(),
  }),
  QuestionFields.extend({
    status: z.literal("cancelled"),
    cancelledAt: Instant,
    cancelledBy: Actor,
    reason: z.string(),
    note: z.string().optional(),
    /** The end of the run by a policy that withdrew the question before anybody was asked. */
    policy: z.enum(["skip", "block"]).optional(),
    handover: Handover,
  }),
]);
export type Question = z.infer<typeof Question>;
export type PendingQuestion = Extract<Question, { status: "pending" }>;
export type ClosedQuestion = Exclude<Question, PendingQuestion>;

/** The policy that decides by how sure the asker is. */
export const CONFIDENCE_POLICY = "confidence";
/** The reason of a question that was not asked because its asker was too unsure, and of its run. */
export const LOW_CONFIDENCE = "low_confidence";

/** The reason of a person who cancelled and gave none. */
export const NO_REASON = "no reason given";

/** The words with which somebody cancelled a question: the reason, the note for the agent, or both. */
export function cancellationWords(
  { reason, note }: Pick<Extract<Question, { status: "cancelled" }>, "reason" | "note">,
  sayReason: (reason: string) => string = (text) => text,
): string {
  if (note === undefined) return sayReason(reason);
  return reason === NO_REASON ? note : `${sayReason(reason)}; ${note}`;
}

/** The words of a person beside an answer, or in place of one. */
export function findNote(question: Question): string | undefined {
  return findAnswer(question)?.note ?? (question.status === "cancelled" ? question.note : undefined);
}

/** Fields that a question gets when it closes; setting them from the start keeps one object shape. */
export const NOT_CLOSED = { answer: undefined, handover: undefined } as const;

/** Fields of an open question, cleared when it closes. */
export const NOT_OPEN = { hold: undefined, settling: undefined } as const;

export function isPending(question: Question): question is PendingQuestion {
  return question.status === "pending";
}

/** Says whether the answer depends on who gives it: people are named, or a quorum is needed. */
export function namesPeople({ approvals }: Question): boolean {
  return approvals.from.length > 0 || approvals.need > 1;
}

/** Refuses a change meant for an earlier version of the question. */
export function requireVersion(question: Question, expected: number | undefined): void {
  if (expected === undefined || expected === question.version) return;
  throw new Refusal(
    "version_changed",
    `The question has changed since it was read (version ${question.version}, not ${expected}); nothing was changed`,
    { hint: "Read it again, then decide" },
  );
}

/** Says whether a question has an open hand-over. */
export function owesOutcome(question: Question): boolean {
  return handoversOf(question).some(isHandoverOpen);
}

/** The hand-overs of a question: of its outcome, of a forced answer, of corrections. */
export function handoversOf(question: Question): Handover[] {
  const handovers = question.amendments.map((amendment) => amendment.handover);
  if (!isPending(question)) handovers.push(question.handover);
  if (question.status === "timeout" && question.forced) handovers.push(question.forced.handover);
  return handovers;
}

/** The hand-over of the outcome that counts: of the forced answer, if there is one. */
export function outcomeHandover(question: ClosedQuestion): Handover {
  return question.status === "timeout" && question.forced ? question.forced.handover : question.handover;
}

/** Says whether a hand-over is owed or under way. */
export function isHandoverOpen(handover: Handover): handover is Extract<Handover, { state: "owed" | "handing" }> {
  return handover.state === "owed" || handover.state === "handing";
}

/** Says whether a hand-over is under way in that epoch, in that way if one is named. */
export function isHandedInEpoch(handover: Handover, epoch: number, by?: "start" | "call"): boolean {
  return handover.state === "handing" && handover.epoch === epoch && (by === undefined || handover.by === by);
}

/** Says whether everything a question owes is being handed over in that epoch. */
export function isHandingOver(question: Question, epoch: number, by?: "start" | "call"): boolean {
  const open = handoversOf(question).filter(isHandoverOpen);
  return open.length > 0 && open.every((handover) => isHandedInEpoch(handover, epoch, by));
}

/**
 * Says whether an approval was handed to the call that waited for it. Handing it over again could run the tool twice. A
 * deferred hook call reports its own result, so it does not count here.
 */
export function isApprovalSpent(question: Question): boolean {
  if (question.kind !== "approval" || question.via === "hook" || isPending(question)) return false;
  const handover = outcomeHandover(question);
  return handover.state === "handing" && handover.by === "call";
}

/** Says whether the hand-over of the outcome itself, not of a correction, is open. */
export function isOutcomeOpen(question: Question): boolean {
  return !isPending(question) && isHandoverOpen(outcomeHandover(question));
}

/** Says whether everything the question owes was stored without resuming the run. */
export function isHeldBack(question: Question): boolean {
  const open = handoversOf(question).filter(isHandoverOpen);
  return open.length > 0 && open.every((handover) => isHandoverOpen(handover) && handover.isHeldBack === true);
}

/** The id that proves an outcome in an agent's transcript; without an answer, one derived from the question. */
export function outcomeName(question: Question): string {
  return findAnswer(question)?.id ?? `${question.id}:${question.status}`;
}

/** The answer that counts: the forced one, the person's, or the policy's. */
export function findAnswer(question: Question): Answer | undefined {
  if (question.status === "answered") return question.answer;
  if (question.status === "timeout") return question.forced?.answer ?? question.answer;
  return undefined;
}

/**
 * Says whether a forced answer can still resume a run that ended without one. A workflow does not wait for a branch or
 * agent of it that has ended, so nobody would use the answer.
 */
export function mayForce(run: Run, question: Question): boolean {
  if (run.waitedForBy) return false;
  if (question.status !== "timeout" || question.forced !== undefined || run.lastQuestionId !== question.id)
    return false;
  return (
    run.status === "completed" ||
    run.status === "skipped" ||
    (run.status === "failed" && run.reason === "input_timeout")
  );
}
