import { z } from "zod";
import { Actor } from "../people/actor.ts";
import { FactSource } from "../trail/fact-source.ts";
import { OutcomeId, QuestionId, RunId } from "../id.ts";
import { Instant } from "../instant.ts";
import { Refusal } from "../refusal.ts";
import { Risk } from "./risk.ts";
import { TimeoutDo } from "./timeout-policy.ts";

export const Outcome = z.enum(["answer", "decide", "clarify"]);
export type Outcome = z.infer<typeof Outcome>;

/** What a person, or a policy that the ask declared, says to a question. */
export const Answer = z.object({
  id: OutcomeId,
  outcome: Outcome,
  /** What was chosen or written, by item id. */
  items: z.record(z.string(), z.object({ values: z.array(z.string()), text: z.string().optional() })),
  note: z.string().optional(),
  /** The template that the words come from. */
  template: z.string().optional(),
  by: Actor,
  at: Instant,
  /** The rule that answered in place of a person. */
  policy: z.string().optional(),
});
export type Answer = z.infer<typeof Answer>;

/**
 * Whether an outcome has reached the agent. It is `given` only on evidence: the agent's own record shows it, the agent
 * asked again after it was handed over in the same start, or the call that waited for it returned it.
 */
export const Handover = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("owed"),
    /** Kept until somebody resumes the run on purpose. */
    isHeldBack: z.literal(true).optional(),
  }),
  z.object({
    state: z.literal("handing"),
    epoch: z.int(),
    at: Instant,
    /** With the start of the agent, or as the reply to a call that waits. */
    by: z.enum(["start", "call"]).optional(),
    /** The process that writes it out, where it has a name. */
    holder: z.string().max(200).optional(),
    /** An earlier start may have shown it already; the agent is told so. */
    isRepeated: z.literal(true).optional(),
    /** A call that waited gets it; if the agent ends without it, it is kept until somebody resumes the run on purpose. */
    isHeldBack: z.literal(true).optional(),
  }),
  z.object({ state: z.literal("given"), at: Instant, witness: z.string() }),
  z.object({ state: z.literal("void"), reason: z.string() }),
]);
export type Handover = z.infer<typeof Handover>;

export const EscalationStep = z.object({
  afterMs: z.int().positive(),
  to: z.array(z.string()),
  channels: z.array(z.string()),
});
export type EscalationStep = z.infer<typeof EscalationStep>;

/** What happens when nobody answers in time. */
export const OnTimeout = z.object({
  do: TimeoutDo,
  /** What `default` answers, in the words a person would type. */
  answer: z.string().optional(),
  steps: z.array(EscalationStep).max(10).optional(),
  then: TimeoutDo.exclude(["escalate"]).optional(),
  addLabel: z.string().optional(),
  comment: z.string().optional(),
  notifyChannel: z.string().optional(),
  assignTo: z.string().optional(),
  markAs: z.string().optional(),
});
export type OnTimeout = z.infer<typeof OnTimeout>;

/** One way and place to tell people. */
export const Notify = z.object({
  channel: z.string(),
  address: z.string().optional(),
  mention: z.array(z.string()).optional(),
});
export type Notify = z.infer<typeof Notify>;

export const Approvals = z.object({ need: z.int().min(1).max(20), from: z.array(z.string()), veto: z.boolean() });
export type Approvals = z.infer<typeof Approvals>;

export const Vote = z.object({ by: Actor, at: Instant, answer: Answer });
export type Vote = z.infer<typeof Vote>;

/**
 * What becomes of a question that nobody answered while its caller waited: the agent is stopped, or told to go on by
 * itself, or left alone because it asks again.
 */
export const AfterHold = z.enum(["park", "proceed", "keep"]);
export type AfterHold = z.infer<typeof AfterHold>;

/** The caller that waits with its agent alive, and until when. */
export const Hold = z.object({
  until: Instant,
  after: AfterHold,
  windowMs: z.int(),
  /** The process that waits, where it can be asked for whether it is still there. */
  holder: z.string().max(200).optional(),
});
export type Hold = z.infer<typeof Hold>;

const Amendment = z.object({ id: OutcomeId, text: z.string(), by: Actor, at: Instant, handover: Handover });
export type Amendment = z.infer<typeof Amendment>;

const Base = z.object({
  id: QuestionId,
  version: z.int(),
  runId: RunId,
  /** Names the ask: with the client's own key the same question for ever. */
  key: z.string(),
  content: z.string(),
  title: z.string(),
  kind: z.enum(["question", "approval"]),
  risk: Risk,
  /** Who says that the risk is not higher; questions kept by an earlier program do not say. */
  riskSource: FactSource.optional(),
  confidence: z.number().min(0).max(1).optional(),
  askedAt: Instant,
  askedBy: Actor,
  /** The door it came through. */
  via: z.string(),
  dueAt: Instant.optional(),
  /** How long people had at first; nothing where the question never times out. */
  timeoutMs: z.int().optional(),
  onTimeout: OnTimeout,
  escalated: z.int(),
  /** What the asker can take back: a shell script cannot explain itself. */
  accepts: z.array(Outcome),
  notify: z.array(Notify),
  /** The people or groups it is for. */
  to: z.array(z.string()),
  issue: z.object({ repo: z.string().optional(), number: z.int() }).optional(),
  approvals: Approvals,
  /** Binds an approval to the exact arguments it was asked for. */
  fingerprint: z.string().optional(),
  /** The first question of the conversation that this one continues. */
  thread: QuestionId.optional(),
  votes: z.array(Vote),
  claim: z.object({ by: Actor, at: Instant }).optional(),
  snoozedUntil: Instant.optional(),
  comments: z.array(z.object({ by: Actor, at: Instant, text: z.string() })),
  reminders: z.int(),
  amendments: z.array(Amendment),
});

/** What an agent wants to know, in one of four states; the last three are final. */
export const Question = z.discriminatedUnion("status", [
  Base.extend({
    status: z.literal("pending"),
    hold: Hold.optional(),
    /** A reply that can still be taken back; nothing else is accepted meanwhile. */
    settling: z
      .object({
        answer: Answer,
        until: Instant,
        /** The answer is stored without resuming the run. */
        isHeldBack: z.literal(true).optional(),
      })
      .optional(),
  }),
  Base.extend({ status: z.literal("answered"), answer: Answer, handover: Handover }),
  Base.extend({
    status: z.literal("timeout"),
    timedOutAt: Instant,
    policy: TimeoutDo,
    /** What the policy answers, where it does. */
    answer: Answer.optional(),
    handover: Handover,
    /** An answer that a person gave afterwards on purpose. */
    forced: z.object({ answer: Answer, handover: Handover }).optional(),
  }),
  Base.extend({
    status: z.literal("cancelled"),
    cancelledAt: Instant,
    cancelledBy: Actor,
    reason: z.string(),
    note: z.string().optional(),
    handover: Handover,
  }),
]);
export type Question = z.infer<typeof Question>;
export type Pending = Extract<Question, { status: "pending" }>;
export type Closed = Exclude<Question, Pending>;

/** What a question gets when it is closed; naming it from the start keeps all questions of one shape. */
export const NOT_CLOSED = { answer: undefined, handover: undefined } as const;

/** What only an open question has, taken away when it is closed. */
export const NOT_OPEN = { hold: undefined, settling: undefined } as const;

export function isPending(question: Question): question is Pending {
  return question.status === "pending";
}

/** Says whether it matters who the people are that answer: some are named, or several have to agree. */
export function namesPeople({ approvals }: Question): boolean {
  return approvals.from.length > 0 || approvals.need > 1;
}

/** Refuses what was meant for an earlier state of the question. */
export function requireVersion(question: Question, expected: number | undefined): void {
  if (expected === undefined || expected === question.version) return;
  throw new Refusal(
    "version_changed",
    `The question has changed since it was read (version ${question.version}, not ${expected}); nothing was changed`,
    { hint: "Read it again, then decide" },
  );
}

/** Says whether something about a question has not been shown to its agent yet. */
export function owes(question: Question): boolean {
  return handoversOf(question).some(isOpen);
}

/** The hand-overs of a question: of its outcome, of a forced answer, of corrections. */
export function handoversOf(question: Question): Handover[] {
  const handovers = question.amendments.map((amendment) => amendment.handover);
  if (!isPending(question)) handovers.push(question.handover);
  if (question.status === "timeout" && question.forced) handovers.push(question.forced.handover);
  return handovers;
}

/** Says whether a hand-over has neither arrived nor been given up. */
export function isOpen(handover: Handover): handover is Extract<Handover, { state: "owed" | "handing" }> {
  return handover.state === "owed" || handover.state === "handing";
}

/** Says whether a hand-over is under way in that start of the agent, in that way if one is named. */
export function isHandedIn(handover: Handover, epoch: number, by?: "start" | "call"): boolean {
  return handover.state === "handing" && handover.epoch === epoch && (by === undefined || handover.by === by);
}

/** Says whether everything a question owes is on its way to the agent of that epoch. */
export function isHanding(question: Question, epoch: number, by?: "start" | "call"): boolean {
  const open = handoversOf(question).filter(isOpen);
  return open.length > 0 && open.every((handover) => isHandedIn(handover, epoch, by));
}

/**
 * Says whether an approval was handed to the call that waited for it. To bring it once more could let the tool run
 * twice. A hook's call can be put off and says itself whether it has a result, so it is not counted here.
 */
export function isSpent(question: Question): boolean {
  if (question.kind !== "approval" || question.via === "hook" || isPending(question)) return false;
  return question.handover.state === "handing" && question.handover.by === "call";
}

/** Says whether the outcome itself, not a correction of it, is still to be shown to the agent. */
export function isOutcomeOpen(question: Question): boolean {
  if (isPending(question)) return false;
  if (question.status === "timeout" && question.forced) return isOpen(question.forced.handover);
  return isOpen(question.handover);
}

/** Says whether everything it owes was stored on purpose without resuming the run. */
export function isHeldBack(question: Question): boolean {
  const open = handoversOf(question).filter(isOpen);
  return open.length > 0 && open.every((handover) => isOpen(handover) && handover.isHeldBack === true);
}

/** The name by which an agent's record shows an outcome; one without an answer has no id of its own. */
export function outcomeName(question: Question): string {
  return findAnswer(question)?.id ?? `${question.id}:${question.status}`;
}

/** The answer that counts: the forced one, the person's, or the policy's. */
export function findAnswer(question: Question): Answer | undefined {
  if (question.status === "answered") return question.answer;
  if (question.status === "timeout") return question.forced?.answer ?? question.answer;
  return undefined;
}
