import { sayActor } from "../core/actor.ts";
import type { Engine } from "../engine/engine.ts";
import type { Context } from "./context.ts";
import type { Flags, Values } from "./flags.ts";
import type { Wanted } from "./next/queue.ts";
import { getRun } from "./target.ts";

/** The flags of `list` that say which questions are meant. */
export const FILTER_FLAGS = {
  mine: { type: "boolean", about: "Only what you claimed, or what is for you" },
  run: { type: "string", value: "run", about: "Only questions of this run" },
  agent: { type: "string", value: "agent", about: "Only of this agent, such as claude" },
  repo: { type: "string", value: "repo", about: "Only of this repository; acme/* takes all of acme" },
  label: { type: "string", multiple: true, value: "label", about: "Only with this label; can be repeated" },
} as const satisfies Flags;

/** Reads the flags as one test. */
export async function readWanted(
  { mine, run, agent, repo, label = [] }: Values<typeof FILTER_FLAGS>,
  engine: Engine,
  { user }: Pick<Context, "user">,
): Promise<Wanted> {
  const runId = run === undefined ? undefined : (await getRun(engine, run)).id;
  const isRepo = repo === undefined ? () => true : repoMatch(repo);
  return ({ question, run: of }) => {
    const isMine = question.claim
      ? sayActor(question.claim.by) === user
      : isFor([...question.to, ...question.approvals.from], user);
    return (
      (runId === undefined || of.id === runId) &&
      (agent === undefined || of.agent === agent) &&
      isRepo(of.repo ?? "") &&
      label.every((each) => of.labels.includes(each)) &&
      (!mine || isMine)
    );
  };
}

function isFor(names: readonly string[], user: string): boolean {
  return names.some((name) => name.replace(/^@/, "") === user);
}

/** `*` stands for anything. */
function repoMatch(pattern: string): (repo: string) => boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const regex = new RegExp(`^${parts.join(".*")}$`, "i");
  return (repo) => regex.test(repo);
}
