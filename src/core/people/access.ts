import { type Actor, isElicited, actorName } from "./actor.ts";
import type { DecisionContext } from "../changes.ts";
import { type RunId, shortId } from "../id.ts";
import { type Person, isNamed } from "./person.ts";
import type { Question } from "../question/question.ts";
import { shownCode } from "../question/risk.ts";
import { Refusal } from "../refusal.ts";
import type { Rules } from "../rules.ts";
import { LINK_CHANNEL } from "./token.ts";

/** The roles an actor can have towards a question or a run. */
export const ROLES = ["own_agent", "other_agent", "person", "admin", "link", "askd"] as const;
export type Role = (typeof ROLES)[number];

/** One row of the access table. */
interface AccessRule {
  /** Completes "An agent cannot …". */
  does: string;
  may: readonly Role[];
  /** The question states in which the verb is allowed; `none` for verbs about no single question. */
  on: "open" | "closed" | "any" | "none";
  /**
   * The verb makes the agent continue: it is limited to the people in `approvals.from`, to the required quorum, and at
   * high risk to a proven identity. `said` for verbs checked when the answer was given.
   */
  isGuarded?: true | "said";
}

const AGENT = ["own_agent"] as const;
const PEOPLE = ["person", "admin", "askd"] as const;
const ADMIN = ["admin", "askd"] as const;

/**
 * The access table. Every verb of every door reads its row here, through `requireAccess` or `hasAccess`;
 * docs/security.md shows the table.
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
  approve_workflow: { does: "approve a workflow", may: PEOPLE, on: "none" },
  see_all: { does: "look at what belongs to no run of its own", may: PEOPLE, on: "none" },
  change_template: { does: "change templates", may: PEOPLE, on: "none" },
  make_token: { does: "make tokens", may: PEOPLE, on: "none" },
  manage_tokens: { does: "manage tokens", may: ADMIN, on: "none" },
  set_away: { does: "say who is away", may: PEOPLE, on: "none" },
  set_preferences: { does: "change the preferences of a person", may: PEOPLE, on: "none" },
  manage_people: { does: "change people", may: ADMIN, on: "none" },
  maintain: { does: "maintain the store", may: ADMIN, on: "none" },
} satisfies Record<string, AccessRule>;
export type AccessVerb = keyof typeof ACCESS;

/** The object of a verb, as far as access depends on it: a question, a run, or neither. */
export interface AccessSubject {
  /** The id of the question, where it is one. */
  id?: string;
  runId?: RunId;
  askedBy?: Actor;
}

/** The role of an actor towards that question or run. */
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

export function hasAccess(verb: AccessVerb, by: Actor, subject: AccessSubject = {}): boolean {
  const { may }: AccessRule = ACCESS[verb];
  return may.includes(roleOf(by, subject));
}

/** Refuses a verb to an actor whose role is not in its row of the table. */
export function requireAccess(verb: AccessVerb, by: Actor, subject: AccessSubject = {}): void {
  if (hasAccess(verb, by, subject)) return;
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
      hint: isAboutQuestion
        ? `Look for the answer with: ${lookCommand(by, subject.id)}`
        : "Ask a person to do it, outside of this run",
    });
  }
  if (role === "link") {
    throw new Refusal("not_permitted", `With a link you cannot ${does}`, { hint: "Sign in to do that" });
  }
  throw new Refusal("not_permitted", `Only an admin may ${does}`, { fact: { is: "admin_only" } });
}

/** How an asker looks for an answer through the channel that it uses: only MCP clients have our tools. */
export function lookCommand({ channel }: Pick<Actor, "channel">, id: string | undefined): string {
  switch (channel) {
    case "cli":
      return `askd check ${id === undefined ? "<id>" : shortId(id)}`;
    case "api":
      return `GET /api/v1/questions/${id ?? "{id}"}`;
    default:
      return id === undefined ? "check_answer" : `check_answer ${id} (it holds)`;
  }
}

/** The rows that decide whether an actor may make an agent continue. */
interface GuardedQuestion {
  question: Question;
  /** All listed people; read where a question names people or counts votes. */
  people?: readonly Person[] | undefined;
}

/** The intention of an actor: they confirm a high risk, or deny what was asked for. */
interface Consent {
  isConfirmed?: boolean | undefined;
  isDenial?: () => boolean;
}

/**
 * Refuses a verb that makes the agent continue, unless the actor could answer that question; every such verb passes
 * this check.
 */
export function requireMayResumeAgent(
  verb: AccessVerb,
  { question, people }: GuardedQuestion,
  { by, rules }: Pick<DecisionContext, "by" | "rules">,
  { isConfirmed = false, isDenial = () => false }: Consent,
): void {
  requireAccess(verb, by, question);
  const { isGuarded }: AccessRule = ACCESS[verb];
  if (!isGuarded || by.scope === "system") return;
  const { from } = question.approvals;
  if (from.length > 0 && !isNamed(from, actorName(by), people)) {
    throw new Refusal("not_permitted", `This question is for ${from.join(", ")}. You are ${actorName(by)}`, {
      hint: hintVoter(question, people),
      fact: { is: "not_for_you", names: from, you: actorName(by) },
    });
  }
  // A denial lets nothing happen, so this machine may give one.
  if (question.risk === "high" && by.strength === "local" && !isElicited(by) && isDenial()) return;
  requireStrength(question, by, rules);
  requireConfirmed(verb, question, by, isConfirmed || isGuarded === "said");
}

/** The person to ask who may answer; removed people may not. */
function hintVoter({ id, approvals: { from } }: Question, people: readonly Person[] = []) {
  const gone = new Set(people.filter(({ removed }) => removed).map((person) => person.id));
  const first = from.find((name) => !gone.has(name));
  if (first !== undefined) return `Ask ${first} to answer it`;
  return `None of them is on the list any more: add one (askd user add), or withdraw it: askd cancel ${shortId(id)}`;
}

/** Refuses text of one person where a quorum is needed; people can only vote there. */
export function requireNoQuorum(verb: AccessVerb, { approvals }: Question, by: Actor, hint: string): void {
  const { isGuarded }: AccessRule = ACCESS[verb];
  if (!isGuarded || by.scope === "system" || approvals.need <= 1) return;
  throw new Refusal("not_permitted", `${approvals.need} people have to agree on this question; you are one`, {
    hint,
    fact: { is: "needs_votes", need: approvals.need },
  });
}

/** How a person says again what needs a confirmation. */
const CONFIRM: Partial<Record<AccessVerb, string>> = {
  answer: "Answer again",
  force: "Answer again",
  amend: "Correct it again",
  cancel_with_words: "Withdraw it again",
};

/** At high risk, an actor known only by their machine must confirm. */
function requireConfirmed(verb: AccessVerb, question: Question, by: Actor, isConfirmed: boolean) {
  if (question.risk === "high" && by.strength === "local" && !isConfirmed) {
    throw new Refusal(
      "needs_confirmation",
      "This question is high risk: read what follows from each choice, then confirm",
      {
        hint:
          by.channel === "cli"
            ? `${CONFIRM[verb] ?? "Repeat it"} with --yes`
            : `${CONFIRM[verb] ?? "Repeat it"} and confirm: --yes, or confirmed: true`,
      },
    );
  }
}

/** Says whether it is proven well enough who an actor is, for the risk of that question. */
export function isProvenFor({ risk }: Pick<Question, "risk">, by: Actor, rules: Pick<Rules, "personChannel">): boolean {
  if (risk !== "high" || by.strength === "person" || by.scope === "system") return true;
  return by.strength === "local" && !rules.personChannel;
}

/** High risk and approvals require a minimum strength, which follows from the channel. */
function requireStrength(question: Question, by: Actor, rules: Rules) {
  if (question.kind === "approval" && isElicited(by)) {
    throw new Refusal(
      "needs_person",
      "An approval cannot be given in the form of an MCP client, which proves no identity",
      {
        hint: `Answer it with: askd answer ${shortId(question.id)}`,
      },
    );
  }
  if (isProvenFor(question, by, rules)) return;
  if (rules.personChannel && question.kind === "approval") {
    const code = shownCode(question.id);
    throw new Refusal("needs_person", "This approval is high risk: allow it where you are signed in as yourself", {
      hint: `Once you have read all of it, reply to its message in a channel that knows you, such as Telegram: allow ${code}`,
      fact: { is: "needs_person_code", code },
    });
  }
  if (rules.personChannel) {
    throw new Refusal("needs_person", "This question is high risk: answer it where you are signed in as yourself", {
      hint: "Answer it in the channel that is configured for this, such as Telegram: askd channels",
    });
  }
  throw new Refusal("needs_person", "This question is high risk: nothing here proves who you are", {
    hint: `Answer it where askd runs, with: askd answer ${shortId(question.id)}`,
  });
}

/** An agent owns what belongs to the run of its token; one without a run owns what it asked itself. */
function isOwn({ id, runId }: Actor, subject: AccessSubject) {
  if (runId !== undefined) return subject.runId === undefined || runId === subject.runId;
  if (subject.askedBy === undefined) return true;
  return subject.askedBy.scope === "agent" && subject.askedBy.id === id;
}
