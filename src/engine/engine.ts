import type { Actor } from "../core/people/actor.ts";
import type { AnswerInput } from "../core/answer/answer-input.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import type { Anchor } from "../core/trail/anchor.ts";
import type { CancelInput } from "../core/question/cancel.ts";
import type { Read, Seal } from "../core/changes.ts";
import type { KeptEvent } from "../core/trail/event.ts";
import type { RunFact } from "../core/trail/fact-source.ts";
import type { Flaw } from "../core/trail/trail-mismatch.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";
import type { RunResult } from "../core/run/run-lifecycle.ts";
import type { Machine } from "../core/run/machine.ts";
import type { Once } from "../core/trail/idempotency.ts";
import type { Person } from "../core/people/person.ts";
import type { Question } from "../core/question/question.ts";
import type { Removal } from "../core/people/removal.ts";
import type { GiveBack, Run, Seen } from "../core/run/run.ts";
import type { Similar } from "../core/answer/similar.ts";
import type { HoldInput } from "../core/question/take-hold.ts";
import type { Stats, StatsQuery } from "../core/stats/stats.ts";
import type { Template, TemplateInput } from "../core/answer/template.ts";
import type { Token, TokenInput } from "../core/people/token.ts";
import type { Troubles } from "../core/run/trouble.ts";
import type { RunUsage } from "../core/run/usage.ts";
import type { QuestionFilter, Ref, RunFilter } from "../store/store.ts";

/** What a new run is known by before it does anything. */
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
  /** Those of its facts that a program of ours on this machine saw itself; a server believes nobody that. */
  measured?: readonly RunFact[];
  priority?: number;
  size?: string;
  parentId?: RunId;
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
  seen?: Seen;
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
export interface Done extends Read {
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

export interface AmendOptions extends Once {
  /** Takes up a run that has ended, with the correction. */
  resume?: boolean;
  /** The person has read what a high risk means. */
  confirmed?: boolean;
}

export interface RemovalOptions {
  /** Who takes over the tokens that the person made for others. */
  handOverTo?: string | undefined;
  /** Says what would happen, and changes nothing. */
  isTrial?: boolean;
}

/** What a damaged or rewritten trail looks like. */
export interface Verified {
  runs: number;
  events: number;
  seals: number;
  /** One line for each place where the trail and the state disagree. */
  problems: string[];
  /** The same without words, where this process has looked itself. */
  flaws?: readonly Flaw[];
}

/**
 * Everything that can be done with questions and runs. The embedded engine writes to a store;
 * the remote one asks a server to do the same.
 */
export interface Engine {
  ask(input: AskInput, by: Actor, options?: AskOptions): Promise<Done>;
  /** Comes back when the question is closed, or at the given time with whatever it is then. */
  wait(id: QuestionId, options: WaitOptions): Promise<Read>;
  answer(id: QuestionId, input: AnswerInput, by: Actor): Promise<Done>;
  /** Writes down that somebody tried what they may not do; nothing else changes. */
  refuse(id: QuestionId, tried: string, by: Actor): Promise<void>;
  /** What the agent would be told, without writing anything. */
  preview(id: QuestionId, input: AnswerInput, by: Actor): Promise<string>;
  undo(id: QuestionId, by: Actor, once?: Once): Promise<Read>;
  amend(id: QuestionId, text: string, by: Actor, options?: AmendOptions): Promise<Read>;
  claim(id: QuestionId, by: Actor, once?: Once): Promise<Read>;
  release(id: QuestionId, by: Actor, once?: Once): Promise<Read>;
  assign(id: QuestionId, to: readonly string[], by: Actor, once?: Once): Promise<Read>;
  snooze(id: QuestionId, until: Instant, by: Actor, once?: Once): Promise<Read>;
  extend(id: QuestionId, byMs: number, by: Actor, once?: Once): Promise<Read>;
  comment(id: QuestionId, text: string, by: Actor, once?: Once): Promise<Read>;
  escalate(id: QuestionId, by: Actor, once?: Once): Promise<Read>;
  /** `resume` hands that text to the run instead of cancelling it with its question. */
  cancel(id: QuestionId, input: CancelInput & Once, by: Actor): Promise<Read>;

  /** What was asked under that name and is still open: those whose outcome is owed, then those that wait, oldest first. */
  findAsked(askedAs: string): Promise<Read[]>;
  /** Another call waits for the question from now on, unless one does that may be alive; `isNew` says which. */
  hold(id: QuestionId, input: HoldInput): Promise<Done>;
  /** The holder came to its end without an outcome: the question is parked, or the run told to proceed. */
  endHold(id: QuestionId, why: "window" | "gone"): Promise<Read>;
  /** Commits that the outcome is about to be written out to the agent of that epoch, by that process. */
  handOver(id: QuestionId, epoch?: number, holder?: string): Promise<Read>;
  /** Commits that what was handed over has reached the agent; with an epoch only what that start of it was handed. */
  given(id: QuestionId, witness: string, epoch?: number): Promise<Read>;

  createRun(input: RunInput, by: Actor): Promise<Run>;
  startRun(id: RunId, by: Actor): Promise<Run>;
  /** The agent's processes are gone. */
  endRun(id: RunId, result: RunResult, by: Actor): Promise<Run>;
  cancelRun(id: RunId, by: Actor, reason?: string): Promise<Run>;
  /**
   * Takes up a run whose answer was stored without resuming it, or one that has ended. With a host, a run that has not
   * ended belongs to that machine from now on, which only counts when its own was not heard of for a while.
   */
  resumeRun(id: RunId, by: Actor, options?: { host?: string }): Promise<Run>;

  /** Makes a token; its text is shown this once and kept nowhere. */
  issueToken(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }>;
  /** Makes a link by which one person answers one question without signing in; its text is shown this once. */
  issueLink(id: QuestionId, person: string, by: Actor): Promise<{ text: string; token: Token }>;
  /** Who bears this token, or nobody. */
  authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined>;
  /** Trades a login code for a token of that person; a code works once. */
  redeemLogin(code: string, by: Actor): Promise<{ text: string; token: Token }>;
  revokeToken(id: string, by: Actor): Promise<Token>;
  /** Gives a token to another person, with whom it ends from then on. */
  handOverToken(id: string, to: string, by: Actor): Promise<Token>;
  listTokens(by: Actor): Promise<Token[]>;
  putPerson(person: Person, by: Actor): Promise<Person>;
  /** Takes somebody off the list with all that they hold, in one commit; or only says what would happen. */
  removePerson(id: string, options: RemovalOptions, by: Actor): Promise<Removal>;
  listPeople(): Promise<Person[]>;
  findPerson(id: string): Promise<Person | undefined>;
  /** Adds a canned answer for everybody, or changes the one of that name. */
  putTemplate(input: TemplateInput, by: Actor): Promise<Template>;
  /** All canned answers, by name; `offerTemplates` of core picks and orders those that fit a question. */
  listTemplates(): Promise<Template[]>;
  removeTemplate(name: string, by: Actor): Promise<Template>;

  read(id: QuestionId): Promise<Read>;
  /** The same for many at once, in the same order. */
  readMany(ids: readonly QuestionId[]): Promise<Read[]>;
  /** What people answered to questions like this one, of the same repository first; often nothing. */
  findSimilar(id: QuestionId, limit: number): Promise<Similar[]>;
  findRun(id: RunId): Promise<Run | undefined>;
  lookUp(ref: Ref, limit: number): Promise<{ runs: Run[]; questions: Question[] }>;
  listQuestions(filter: QuestionFilter): Promise<Question[]>;
  listRuns(filter: RunFilter): Promise<Run[]>;
  /** What these runs have used so far; those of which nothing was counted are left out. */
  usageOf(ids: readonly RunId[]): Promise<RunUsage[]>;
  /** The machines that agents are started on, with when a worker of each was last heard of. */
  listMachines(): Promise<Machine[]>;
  countQuestions(status: Question["status"]): Promise<number>;
  /** What is known of the questions of a time, in numbers: the last 7 days unless it says otherwise. */
  stats(query?: StatsQuery): Promise<Stats>;
  readChain(runId: RunId): Promise<KeptEvent[]>;
  readFeed(after: string, limit: number): Promise<KeptEvent[]>;
  /** The cursor of the last event that the feed shows now. */
  findFeedEnd(): Promise<string>;
  /** Compares all that is kept with the trail, the seals, and the anchors that the caller has. */
  verify(options?: VerifyOptions): Promise<Verified>;
  /** Seals the trail now, where the store is; returns the last seal, undefined where nothing has happened yet. */
  seal(): Promise<Seal | undefined>;
  /** What keeps questions and runs from going on: jobs that fail. */
  findTroubles(): Promise<Troubles>;

  now(): Promise<Instant>;
  /** Does what has fallen due, for callers that run with no worker beside them. Returns how many jobs. */
  doDue(): Promise<number>;
  /** Does jobs as they fall due until stopped. */
  work(): Promise<void>;
  stop(): Promise<void>;
}
