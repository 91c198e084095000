import type { Actor } from "../core/people/actor.ts";
import type { AnswerInput } from "../core/answer/answer-input.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import type { Anchor } from "../core/trail/anchor.ts";
import type { AttentionUse } from "../core/channel/attention.ts";
import type { ChannelState, DeliveryStatus } from "../core/channel/delivery/delivery-status.ts";
import type { MessagePreview } from "../core/channel/message-preview.ts";
import type { CancelInput } from "../core/question/cancel.ts";
import type { QuestionSnapshot, Seal } from "../core/changes.ts";
import type { KeptEvent } from "../core/trail/event.ts";
import type { RunFact } from "../core/trail/fact-source.ts";
import type { TrailMismatch } from "../core/trail/trail-mismatch.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";
import type { Issue } from "../core/run/issue.ts";
import type { RunResult } from "../core/run/run-lifecycle.ts";
import type { Machine } from "../core/run/machine.ts";
import type { IdempotentChange } from "../core/trail/idempotency.ts";
import type { Away, Person, Preferences } from "../core/people/person.ts";
import type { Presence } from "../core/people/presence.ts";
import type { Question } from "../core/question/question.ts";
import type { Removal } from "../core/people/removal.ts";
import type { GiveBack, Run, AgentPresence } from "../core/run/run.ts";
import type { SimilarQuestion } from "../core/answer/similar.ts";
import type { HoldInput } from "../core/question/hold.ts";
import type { Stats, StatsQuery } from "../core/stats/stats.ts";
import type { Template, TemplateInput } from "../core/answer/template.ts";
import type { Token, TokenInput } from "../core/people/token.ts";
import type { Troubles } from "../core/run/failing-job.ts";
import type { RunUsage } from "../core/run/usage.ts";
import type { WorkflowRef } from "../core/workflow/workflow-ref.ts";
import type { QuestionFilter, NameReference, RunFilter } from "../store/store.ts";

/** The description of a new run. */
export interface RunInput {
  /** Chosen by a caller on this machine that has to make the run's directory first. */
  id?: RunId;
  name?: string;
  agent?: string;
  host?: string;
  session?: string;
  externalId?: string;
  dir?: string;
  repo?: string;
  branch?: string;
  labels?: string[];
  /** Facts that askd measured on this machine itself; a server ignores this claim. */
  measured?: readonly RunFact[];
  priority?: number;
  size?: string;
  /** The issue or pull request that it belongs to. */
  issue?: Issue | undefined;
  parentId?: RunId;
  /** Its definition, if it is the run of a workflow. */
  workflow?: WorkflowRef;
  /** The workflow that waits for it. */
  waitedForBy?: Run["waitedForBy"];
  giveBack?: GiveBack;
  callback?: { url: string; secret: string };
}

/** Where an ask belongs: a run that is there, a new one, or one made just for it. */
export interface AskOptions {
  runId?: RunId;
  run?: RunInput;
  /** The start of the agent that asks; one that was taken over can no longer ask. */
  epoch?: number;
  /** When the agent made the call, where the ask had to wait its turn: it does not show what came after that. */
  calledAt?: Instant;
  /** The agent's process, where somebody else started it. */
  seen?: AgentPresence;
  /** How outcomes get back from now on, where that changes with each start of a session that somebody else started. */
  giveBack?: Extract<GiveBack, "worker" | "poll">;
  /** Values that must not reach any channel, from the environment of the one who asks. */
  secrets?: readonly string[];
  /** The process that waits for the answer, so that others can see whether it still does. */
  holder?: string;
  /** Names who asks what, for clients that name neither their session nor their call: `findAsked` finds it again. */
  askedAs?: string;
}

/** A question as it stands after a verb, and whether this call made the difference. */
export interface Done extends QuestionSnapshot {
  /** False when the same ask or the same reply had been taken before. */
  isNew: boolean;
}

export interface WaitOptions {
  /** When to come back without an outcome. */
  until: Instant;
  signal?: AbortSignal;
  /** The caller writes the outcome out to the agent: an answer given in this process is committed as on its way. */
  takes?: boolean;
}

export interface VerifyOptions {
  /** Seals that somebody outside the store has kept. */
  anchors?: readonly Anchor[];
}

export interface AmendOptions extends IdempotentChange {
  /** Resumes a run that has ended, with the correction. */
  resume?: boolean;
  /** The person has confirmed the high risk. */
  confirmed?: boolean;
}

export interface RemovalOptions {
  /** The person who takes over the tokens that the removed person made for others. */
  handOverTo?: string | undefined;
  /** Reports what would happen, and changes nothing. */
  isTrial?: boolean;
}

/** The result of a verification. */
export interface Verified {
  runs: number;
  events: number;
  seals: number;
  /** One line for each place where the trail and the state disagree. */
  problems: string[];
  /** The same as data, if this process verified the trail itself. */
  flaws?: readonly TrailMismatch[];
}

/** Asking, answering, and bringing outcomes back. */
export interface QuestionEngine {
  ask(input: AskInput, by: Actor, options?: AskOptions): Promise<Done>;
  /** Returns when the question is closed, or at the given time with the question as it is then. */
  wait(id: QuestionId, options: WaitOptions): Promise<QuestionSnapshot>;
  answer(id: QuestionId, input: AnswerInput, by: Actor): Promise<Done>;
  /** Records that somebody tried something they may not do; nothing else changes. */
  refuse(id: QuestionId, tried: string, by: Actor): Promise<void>;
  /** Returns the text that the agent would get, without writing anything. */
  preview(id: QuestionId, input: AnswerInput, by: Actor): Promise<string>;
  undo(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  amend(id: QuestionId, text: string, by: Actor, options?: AmendOptions): Promise<QuestionSnapshot>;
  claim(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  release(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  assign(id: QuestionId, to: readonly string[], by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  snooze(id: QuestionId, until: Instant, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  extend(id: QuestionId, byMs: number, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  comment(id: QuestionId, text: string, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  escalate(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot>;
  /** `resume` sends that text to the run instead of cancelling the run with its question. */
  cancel(id: QuestionId, input: CancelInput & IdempotentChange, by: Actor): Promise<QuestionSnapshot>;
  /** Creates a link by which one person answers one question without signing in; its text is returned only here. */
  issueLink(id: QuestionId, person: string, by: Actor): Promise<{ text: string; token: Token }>;

  /** Open questions asked under that name: those whose outcome is owed, then the pending ones, oldest first. */
  findAsked(askedAs: string): Promise<QuestionSnapshot[]>;
  /** Makes another call hold the question, unless one holds it that may be alive; `isNew` says which. */
  hold(id: QuestionId, input: HoldInput): Promise<Done>;
  /** The holder stops waiting without an outcome: parks the question, or tells the run to proceed. */
  endHold(id: QuestionId, why: "window" | "gone"): Promise<QuestionSnapshot>;
  /** Commits that the outcome is about to be written out to the agent of that epoch, by that process. */
  handOver(id: QuestionId, epoch?: number, holder?: string): Promise<QuestionSnapshot>;
  /** Commits that the outcome has reached the agent; with an epoch only the part handed to that start of it. */
  given(id: QuestionId, witness: string, epoch?: number): Promise<QuestionSnapshot>;

  read(id: QuestionId): Promise<QuestionSnapshot>;
  /** Reads many questions at once, in the given order. */
  readMany(ids: readonly QuestionId[]): Promise<QuestionSnapshot[]>;
  listQuestions(filter: QuestionFilter): Promise<Question[]>;
  countQuestions(status: Question["status"]): Promise<number>;
  /** Answers that people gave to similar questions, those of the same repository first; often none. */
  findSimilar(id: QuestionId, limit: number): Promise<SimilarQuestion[]>;
}

/** Runs, and the machines that they run on. */
export interface RunEngine {
  createRun(input: RunInput, by: Actor): Promise<Run>;
  startRun(id: RunId, by: Actor): Promise<Run>;
  /** Records that the agent's processes have ended. */
  endRun(id: RunId, result: RunResult, by: Actor): Promise<Run>;
  cancelRun(id: RunId, by: Actor, reason?: string): Promise<Run>;
  /** The caller hears how the run ends, or no longer does. */
  followRun(id: RunId, by: Actor, wish: { isFollowing: boolean }): Promise<Run>;
  /**
   * Resumes a run whose answer was stored without resuming it, or one that has ended. With a host, a run that has not
   * ended moves to that machine, which is refused unless its own machine was not heard of for a while.
   */
  resumeRun(id: RunId, by: Actor, options?: { host?: string }): Promise<Run>;
  findRun(id: RunId): Promise<Run | undefined>;
  /** Runs and questions that match a number, a name, an external id, a session or a short id. */
  lookUp(ref: NameReference, limit: number): Promise<{ runs: Run[]; questions: Question[] }>;
  listRuns(filter: RunFilter): Promise<Run[]>;
  /** Turns, cost and tokens of these runs so far; runs without any count are left out. */
  usageOf(ids: readonly RunId[]): Promise<RunUsage[]>;
  /** The machines that agents are started on, with the last heartbeat of a worker on each. */
  listMachines(): Promise<Machine[]>;
  /** Failing jobs that keep questions and runs from continuing. */
  findTroubles(): Promise<Troubles>;
  /** The rows of the store that this process met lately and could not read, by name. */
  listUnreadable(): string[];
}

/** People, their tokens, and the canned answers that they share. */
export interface PeopleEngine {
  /** Creates a token; its text is returned only here and kept nowhere. */
  issueToken(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }>;
  /** The owner of this token; undefined if it is not valid. */
  authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined>;
  /** Trades a login code for a token of that person; a code works once. */
  redeemLogin(code: string, by: Actor): Promise<{ text: string; token: Token }>;
  revokeToken(id: string, by: Actor): Promise<Token>;
  /** Gives a token to another person: it ends when that person is removed. */
  handOverToken(id: string, to: string, by: Actor): Promise<Token>;
  listTokens(by: Actor): Promise<Token[]>;
  putPerson(person: Person, by: Actor): Promise<Person>;
  /** Records that a person is away, or that they are back. */
  setAway(id: string, away: Away | undefined, by: Actor): Promise<Person>;
  /** Records where, when and how a person wants to be told. */
  setPreferences(id: string, preferences: Preferences, by: Actor): Promise<Person>;
  /** Removes a person with everything that they hold, in one commit; or only reports what would happen. */
  removePerson(id: string, options: RemovalOptions, by: Actor): Promise<Removal>;
  listPeople(): Promise<Person[]>;
  findPerson(id: string): Promise<Person | undefined>;
  /** Adds a canned answer for everybody, or changes the one of that name. */
  putTemplate(input: TemplateInput, by: Actor): Promise<Template>;
  /** All canned answers, by name; `listMatchingTemplates` of core picks and orders those that fit a question. */
  listTemplates(): Promise<Template[]>;
  removeTemplate(name: string, by: Actor): Promise<Template>;
}

/** Messages to people, and the channels they go through. */
export interface ReachEngine {
  /** The messages about a question: their channels, recipients and results. */
  listDeliveries(id: QuestionId): Promise<DeliveryStatus[]>;
  /** The messages that each channel would get of a question as it is now; sends nothing. */
  previewMessages(id: QuestionId): Promise<MessagePreview[]>;
  /** How often each person was interrupted lately, and how often they may be. */
  listAttention(): Promise<AttentionUse[]>;
  /** The messages with news of a run, and what came of them. */
  listRunDeliveries(id: RunId): Promise<DeliveryStatus[]>;
  /** The configured channels, and what they last did. */
  listChannels(): Promise<ChannelState[]>;
  /** Records that a person is at their inbox: messages to their phone wait a moment. */
  reportPresence(by: Actor): Promise<Presence>;
}

/** The audit trail, and the numbers that are counted from it. */
export interface TrailEngine {
  readChain(runId: RunId): Promise<KeptEvent[]>;
  readFeed(after: string, limit: number): Promise<KeptEvent[]>;
  /** The events before that place in the feed, or the last of all, newest first. */
  readNewest(before: string | undefined, limit: number): Promise<KeptEvent[]>;
  /** The cursor of the last event that the feed shows now. */
  findFeedEnd(): Promise<string>;
  /** Compares everything kept with the trail, the seals, and the anchors that the caller has. */
  verify(options?: VerifyOptions): Promise<Verified>;
  /** Seals the trail now, where the store is; returns the last seal, undefined if nothing has happened yet. */
  seal(): Promise<Seal | undefined>;
  /** Numbers about the questions of a period: the last 7 days unless the query names another. */
  stats(query?: StatsQuery): Promise<Stats>;
}

/**
 * Everything that can be done with questions and runs. The local engine writes to a store; the remote one asks a server
 * to do the same.
 */
export interface Engine extends QuestionEngine, RunEngine, PeopleEngine, ReachEngine, TrailEngine {
  now(): Promise<Instant>;
  /** Does all due jobs, for callers without a worker beside them. Returns how many. */
  doDue(): Promise<number>;
  /** Does jobs as they fall due until stopped. */
  work(): Promise<void>;
  stop(): Promise<void>;
}
