import { actorName } from "../../../core/people/actor.ts";
import { isNamed } from "../../../core/people/person.ts";
import type { Question } from "../../../core/question/question.ts";
import type { Run } from "../../../core/run/run.ts";
import { wildcard } from "../../../core/text/wildcard.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { findPeople } from "../question/known-people.ts";
import type { Flags, Values } from "../../flags.ts";
import { getRun } from "../../find-target.ts";

/** Flags that filter questions. */
export const FILTER_FLAGS = {
  mine: { type: "boolean", about: "Only questions claimed by you, or assigned to you or your groups" },
  run: { type: "string", value: "run", about: "Only questions of this run" },
  agent: { type: "string", value: "agent", about: "Only questions of this agent, such as claude" },
  repo: { type: "string", value: "repo", about: "Only questions of this repository; acme/* matches all of acme" },
  label: { type: "string", multiple: true, value: "label", about: "Only questions with this label; can be repeated" },
} as const satisfies Flags;

/** A test that selects questions. */
export type QuestionPredicate = (row: { question: Question; run: Run }) => boolean;

/** Combines the filter flags into one test. */
export async function readQuestionFilter(
  { mine, run: named, agent, repo, label = [] }: Values<typeof FILTER_FLAGS>,
  engine: Engine,
  context: Pick<Context, "user">,
): Promise<QuestionPredicate> {
  const runId = named === undefined ? undefined : (await getRun(engine, named)).id;
  const isMine = mine ? await mineOf(engine, context) : () => true;
  const isRepo = repo === undefined ? () => true : wildcard(repo);
  return ({ question, run }) =>
    (runId === undefined || run.id === runId) &&
    (agent === undefined || run.agent === agent) &&
    isRepo(run.repo ?? "") &&
    label.every((each) => run.labels.includes(each)) &&
    isMine(question);
}

/** Questions that the user claimed, or that are assigned to the user and not claimed by others. */
async function mineOf(engine: Engine, { user }: Pick<Context, "user">): Promise<(question: Question) => boolean> {
  const people = await findPeople(engine);
  return (question) => {
    if (question.claim) return actorName(question.claim.by) === user;
    return isNamed([...question.to, ...question.approvals.from], user, people);
  };
}
