import { type Actor, isElicited, sayActor } from "./actor.ts";
import type { At } from "../changes.ts";
import { type RunId, shortId } from "../id.ts";
import { type Person, isNamed } from "./person.ts";
import type { Question } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import type { Rules } from "../rules.ts";
import { LINK_CHANNEL } from "./token.ts";

/** Who somebody is to a question or a run, as far as the rules tell them apart. */
export const ROLES = ["own_agent", "other_agent", "person", "admin", "link", "askd"] as const;
export type Role = (typeof ROLES)[number];

/** One row of the table: who may do something. */
interface AccessRule {
  /** Completes "An agent cannot …". */
  does: string;
  may: readonly Role[];
  /** The states of the question in which it can be done; `none` for what concerns no single question. */
  on: "open" | "closed" | "any" | "none";
  /**
   * The agent goes on with what is said: only the people named in `approvals.from` may say it, as many of them as the
   * question needs, and at high risk with proof of who they are. `said` for what was checked when it was said.
   */
  isGuarded?: true | "said";
}

const AGENT = ["own_agent"] as const;
const PEOPLE = ["person", "admin", "askd"] as const;
const ADMIN = ["admin", "askd"] as const;

/**
 * Who may do what. Every verb of every door reads its row here, through `requireMay` or `mayDo`; docs/security.md shows
 * the table.
 */
export const ACCESS = {
  ask: { does: "ask in that run", may: [...AGENT, ...PEOPLE], on: "none" },
  look: { does: "look at that question", may: [...AGENT, ...PEOPLE, "link"], on: "any" },
  take_outcome: { does: "take the outcome of that question", may: [...AGENT, ...PEOPLE], on: "any" },
  answer: { does: "answer a question", may: [...PEOPLE, "link"], on: "open", isGuarded: true },
  force: { does: "answer a question after its deadline", may: PEOPLE, on: "closed", isGuarded: true },
  amend: { does: "amend a question", may: PEOPLE, on: "closed", isGuarded: true },
  cancel: { does: "cancel that question", may: [...AGENT, ...PEOPLE], on: "open" },
  cancel_with_words: { does: "cancel a question with words", may: PEOPLE, on: "open", isGuarded: true },
  undo: { does: "undo an answer to a question", may: [...PEOPLE, "link"], on: "open" },
  extend: { does: "extend a question", may: PEOPLE, on: "open" },
  snooze: { does: "snooze a question", may: PEOPLE, on: "open" },
  claim: { does: "claim a question", may: PEOPLE, on: "open" },
  release: { does: "release a question", may: PEOPLE, on: "open" },
  assign: { does: "assign a question", may: PEOPLE, on: "open" },
  escalate: { does: "escalate a question", may: PEOPLE, on: "open" },
  comment: { does: "comment on a question", may: PEOPLE, on: "any" },
  link: { does: "make a link to a question", may: PEOPLE, on: "open" },
  start_run: { does: "make a run", may: PEOPLE, on: "none" },
  start_child_run: { does: "start a run from that run", may: [...AGENT, ...PEOPLE], on: "none" },
  report_run: { does: "report the start or end of an agent", may: PEOPLE, on: "none" },
  cancel_run: { does: "cancel a run", may: PEOPLE, on: "none" },
  resume_run: { does: "resume a run", may: PEOPLE, on: "none", isGuarded: "said" },
  take_over_run: { does: "take over a run", may: PEOPLE, on: "none", isGuarded: "said" },
  see_all: { does: "look at what belongs to no run of its own", may: PEOPLE, on: "none" },
  change_template: { does: "change templates", may: PEOPLE, on: "none" },
  make_token: { does: "make tokens", may: PEOPLE, on: "none" },
  manage_tokens: { does: "manage tokens", may: ADMIN, on: "none" },
  manage_people: { does: "change people", may: ADMIN, on: "none" },
  maintain: { does: "maintain the store", may: ADMIN, on: "none" },
} satisfies Record<string, AccessRule>;
export type AccessVerb = keyof typeof ACCESS;

/** What a verb is about, as far as that decides who may do it: a question, a run, or nothing of anybody's. */
export interface AccessSubject {
  runId?: RunId;
  askedBy?: Actor;
}

/** Who somebody is to that question or run. */
export function roleOf(by: Actor, subject: AccessSubject = {}): Role {
  switch (by.scope) {
    case "system":
      return "askd";
    case "agent":
      return isOwn(by, subject) ? "own_agent" : "other_agent";
    default:
      if (by.channel === LINK_CHANNEL) return "link";
      return by.scope === "admin" ? "admin" : "person";
  }
}

export function mayDo(verb: AccessVerb, by: Actor, subject: AccessSubject = {}): boolean {
  const { may }: AccessRule = ACCESS[verb];
  return may.includes(roleOf(by, subject));
}

/** Refuses a verb to whoever has no place in its row of the table. */
export function requireMay(verb: AccessVerb, by: Actor, subject: AccessSubject = {}): void {
  if (mayDo(verb, by, subject)) return;
  const { does, may }: AccessRule = ACCESS[verb];
  const role = roleOf(by, subject);
  if (role === "other_agent" && may.includes("own_agent")) {
    throw new Refusal("not_permitted", "This question belongs to another run", {
      hint: "Name a question or a run of your own",
    });
  }
  if (by.scope === "agent") {
    const isAboutQuestion = ACCESS[verb].on !== "none";
    throw new Refusal("not_permitted", `An agent cannot ${does}; a person has to`, {
      hint: isAboutQuestion ? "Wait for the answer with: check_answer" : "Ask a person to do it, outside of this run",
    });
  }
  if (role === "link") {
    throw new Refusal("not_permitted", `Whoever has a link cannot ${does}`, { hint: "Sign in to do that" });
  }
  throw new Refusal("not_permitted", `Only an admin may ${does}`, { fact: { is: "admin_only" } });
}

/** What is known where somebody is about to make an agent go on. */
interface GuardedRead {
  question: Question;
  /** Everybody on the list of people; read where a question names people or counts votes. */
  people?: readonly Person[] | undefined;
}

/**
 * Refuses a verb that makes the agent go on to whoever could not answer that question: every such verb passes this one
 * check. `isConfirmed` says that the person has read what a high risk means.
 */
export function requireMayGoOn(
  verb: AccessVerb,
  { question, people }: GuardedRead,
  { by, rules }: Pick<At, "by" | "rules">,
  isConfirmed: boolean,
): void {
  requireMay(verb, by, question);
  const { isGuarded }: AccessRule = ACCESS[verb];
  if (!isGuarded || by.scope === "system") return;
  const { from } = question.approvals;
  if (from.length > 0 && !isNamed(from, sayActor(by), people)) {
    throw new Refusal("not_permitted", `This question is for ${from.join(", ")}. You are ${sayActor(by)}`, {
      hint: `Ask ${from[0] ?? "them"} to answer it`,
      fact: { is: "not_for_you", names: from, you: sayActor(by) },
    });
  }
  requireStrength(question, by, rules);
  requireConfirmed(question, by, isConfirmed || isGuarded === "said");
}

/** Refuses words of one person where several have to agree; they can only vote. */
export function requireNoVotes(verb: AccessVerb, { approvals }: Question, by: Actor, hint: string): void {
  const { isGuarded }: AccessRule = ACCESS[verb];
  if (!isGuarded || by.scope === "system" || approvals.need <= 1) return;
  throw new Refusal("not_permitted", `${approvals.need} people have to agree on this question; you are one`, {
    hint,
    fact: { is: "needs_votes", need: approvals.need },
  });
}

/** At high risk somebody of whom only the machine is known confirms what they have read. */
function requireConfirmed(question: Question, by: Actor, isConfirmed: boolean): void {
  if (question.risk === "high" && by.strength === "local" && !isConfirmed) {
    throw new Refusal(
      "needs_confirmation",
      "This question is high risk: read what follows from each choice, then confirm",
      {
        hint: "Answer again with --yes",
      },
    );
  }
}

/** High risk and approvals need to know who answers; what is known of somebody follows from how they came. */
function requireStrength(question: Question, by: Actor, rules: Rules): void {
  if (question.kind === "approval" && isElicited(by)) {
    throw new Refusal("needs_person", "An approval is not given in the form of an MCP client, which proves no person", {
      hint: `Answer it with: askd answer ${shortId(question.id)}`,
    });
  }
  if (question.risk !== "high" || by.strength === "person" || by.scope === "system") return;
  if (rules.personChannel) {
    throw new Refusal("needs_person", "This question is high risk: answer it where you are signed in as yourself", {
      hint: "Answer it in the channel that is configured for this: Slack, GitHub or e-mail",
    });
  }
  if (by.strength === "local") return;
  throw new Refusal("needs_person", "This question is high risk: nothing here proves who you are", {
    hint: `Answer it where askd runs, with: askd answer ${shortId(question.id)}`,
  });
}

/** An agent has what belongs to the run of its token; one without a run has what it asked itself. */
function isOwn({ id, runId }: Actor, subject: AccessSubject): boolean {
  if (runId !== undefined) return subject.runId === undefined || runId === subject.runId;
  if (subject.askedBy === undefined) return true;
  return subject.askedBy.scope === "agent" && subject.askedBy.id === id;
}
