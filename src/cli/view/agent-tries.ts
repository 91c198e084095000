import type { QuestionId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { pluralize } from "../../core/text/plural.ts";
import type { Engine } from "../../engine/engine.ts";
import { argumentOf } from "./run-text.ts";

/** How often agents tried what only people may do with the questions of a run, by question; none where it is not told. */
export async function readAgentTries(engine: Engine, run: Run): Promise<Map<QuestionId, number>> {
  const tries = new Map<QuestionId, number>();
  for (const { event } of await readTrail(engine, run)) {
    if (event.type !== "question.refused" || event.by.scope !== "agent" || event.questionId === undefined) continue;
    tries.set(event.questionId, Number(event.detail?.["tries"] ?? 1));
  }
  return tries;
}

/** `An agent tried to answer this itself, 3 times; it was refused. See: askd audit 42` */
export function sayAgentTries(tries: number | undefined, run: Run, program: string): string[] {
  if (tries === undefined) return [];
  const often = tries === 1 ? "" : `, ${pluralize(tries, "time")}`;
  return [`An agent tried to answer this itself${often}; it was refused. See: ${program} audit ${argumentOf(run)}`];
}

async function readTrail(engine: Engine, run: Run) {
  try {
    return await engine.readChain(run.id);
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}
