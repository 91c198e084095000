import { type Actor, isElicited, sayActor } from "./actor.ts";
import { shortId } from "./id.ts";
import type { Pending, Question } from "./question.ts";
import { Refusal } from "./refusal.ts";
import type { Rules } from "./rules.ts";

/** Only a person, or askd by a declared policy, may act on a question; an agent never answers itself. */
export function requirePerson(by: Actor, verb: string): void {
  if (by.scope !== "agent") return;
  throw new Refusal("not_permitted", `An agent cannot ${verb} a question; a person has to`, {
    hint: "Wait for the answer with: check_answer",
  });
}

/** Only the people that the ask named may answer it; high risk needs a proven identity or a typed word. */
export function requireMayAnswer(question: Pending, by: Actor, rules: Rules, isConfirmed: boolean): void {
  requirePerson(by, "answer");
  const from = question.approvals.from;
  if (from.length > 0 && !from.includes(sayActor(by)) && by.scope !== "admin") {
    throw new Refusal("not_permitted", `This question is for ${from.join(", ")}. You are ${sayActor(by)}`, {
      hint: `Ask ${from[0] ?? "them"} to answer it`,
      fact: { is: "not_for_you", names: from, you: sayActor(by) },
    });
  }
  requireStrength(question, by, rules);
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
function requireStrength(question: Pending, by: Actor, rules: Rules): void {
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

/** An agent may look at, ask and cancel only in its own run. */
export function requireOwnRun(question: Pick<Question, "runId">, by: Actor): void {
  if (by.scope !== "agent" || by.runId === undefined || by.runId === question.runId) return;
  throw new Refusal("not_permitted", "This question belongs to another run");
}
