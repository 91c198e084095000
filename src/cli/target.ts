import { type QuestionId, shortId } from "../core/id.ts";
import type { Question } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import { type Lookup, parseRef } from "./ref.ts";
import { oneLine } from "./view/sanitise.ts";

const CANDIDATES = 6;

/** The question that an argument names, or the run with its pending or last question. */
export type CommandTarget =
  | { named: "question"; question: Question }
  | { named: "run"; run: Run; questionId: QuestionId | undefined };

/** Finds the question or run that an argument names; refuses if there is none, or several. */
export async function getTarget(engine: Engine, text: string): Promise<CommandTarget> {
  for (const lookup of parseRef(text)) {
    const found = await find(engine, lookup);
    if (found.length > 1) throw ambiguous(text, found);
    if (found[0]) return found[0];
  }
  throw new Refusal("not_found", `There is no question or run "${oneLine(text)}"`, {
    hint: "List questions: askd list",
  });
}

/** The named run, or the run of the named question. */
export async function getRun(engine: Engine, text: string): Promise<Run> {
  const target = await getTarget(engine, text);
  if (target.named === "run") return target.run;
  const run = await engine.findRun(target.question.runId);
  if (!run) throw new Refusal("not_found", `The run of ${shortId(target.question.id)} no longer exists`);
  return run;
}

/** The named question, or the question of the named run. */
export async function getQuestionId(engine: Engine, text: string): Promise<QuestionId> {
  const target = await getTarget(engine, text);
  if (target.named === "question") return target.question.id;
  if (target.questionId) return target.questionId;
  throw new Refusal("not_pending", `Task ${target.run.number} has asked nothing`, {
    hint: `See it with: askd show ${target.run.number}`,
  });
}

async function find(engine: Engine, lookup: Lookup): Promise<CommandTarget[]> {
  switch (lookup.by) {
    case "question":
      return [{ named: "question", question: (await engine.read(lookup.id)).question }];
    case "run": {
      const run = await engine.findRun(lookup.id);
      return run ? [runTarget(run)] : [];
    }
    case "only":
      return findOnly(engine);
    default: {
      const { runs, questions } = await engine.lookUp(lookup, CANDIDATES);
      const only = "only" in lookup ? lookup.only : undefined;
      return [
        ...(only === "run" ? [] : questions.map((question): CommandTarget => ({ named: "question", question }))),
        ...(only === "question" ? [] : preferLive(runs).map(runTarget)),
      ];
    }
  }
}

async function findOnly(engine: Engine): Promise<CommandTarget[]> {
  const waiting = await engine.listQuestions({ status: "pending", order: "oldest", limit: CANDIDATES });
  if (waiting.length > 0) return waiting.map((question): CommandTarget => ({ named: "question", question }));
  throw new Refusal("not_found", "Nothing is waiting for you", { hint: "List questions: askd list" });
}

/** Run names repeat: prefers the run that waits. */
function preferLive(runs: readonly Run[]): readonly Run[] {
  const waiting = runs.filter((run) => run.pendingId !== undefined);
  return waiting.length > 0 ? waiting : runs.slice(0, 1);
}

function runTarget(run: Run): CommandTarget {
  return { named: "run", run, questionId: run.pendingId ?? run.lastQuestionId };
}

function ambiguous(text: string, found: readonly CommandTarget[]): Refusal {
  const ids = found.map((target) => (target.named === "question" ? target.question.id : target.run.id));
  const names = found.map((target) =>
    target.named === "question"
      ? `${shortId(target.question.id, ids)} ${oneLine(target.question.title).slice(0, 60)}`
      : `#${target.run.number} ${oneLine(target.run.name)}`,
  );
  const what = text.trim() === "-" ? "More than one question is waiting" : `"${oneLine(text)}" is ambiguous`;
  return new Refusal("ambiguous_ref", what, { hint: `Use one of: ${names.join("; ")}` });
}
