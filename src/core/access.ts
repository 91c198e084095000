import { type Actor, sayActor } from "./actor.ts";
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
  if (question.risk !== "high" || by.strength === "person" || by.scope === "system") return;
  if (rules.personChannel) {
    throw new Refusal("needs_person", "This question is high risk: answer it where you are signed in as yourself", {
      hint: "Use Slack, GitHub, e-mail or the web inbox with your own account",
    });
  }
  if (!isConfirmed) {
    throw new Refusal(
      "needs_confirmation",
      "This question is high risk: read what follows from each choice, then confirm",
      {
        hint: "Answer again with --yes",
      },
    );
  }
}

/** An agent may look at, ask and cancel only in its own run. */
export function requireOwnRun(question: Pick<Question, "runId">, by: Actor): void {
  if (by.scope !== "agent" || by.runId === undefined || by.runId === question.runId) return;
  throw new Refusal("not_permitted", "This question belongs to another run");
}
