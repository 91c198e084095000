import { setTimeout as sleep } from "node:timers/promises";
import { LIVE_STATUSES, type Run } from "../../../src/core/run/run.ts";
import { PLAIN } from "./choose.ts";
import type { People } from "./person.ts";
import { PEOPLE } from "./plan.ts";
import type { Sight } from "./predict.ts";
import type { Stage } from "./stage.ts";

const LOOK_MS = 150;
const MOST = 500;

/**
 * Brings every run to its end when nobody makes trouble any more: answers what waits, resumes what was only stored.
 * Gives up when nothing has moved for a while; says how long it took.
 */
export async function heal(stage: Stage, people: People, bounds: { idleMs: number; mostMs: number }): Promise<number> {
  const startedAtMs = performance.now();
  let [seen, movedAtMs] = ["", startedAtMs];
  for (;;) {
    const runs = await stage.store.listRuns({ statuses: [...LIVE_STATUSES], order: "oldest", limit: MOST });
    const nowMs = performance.now();
    if (runs.length === 0) return nowMs - startedAtMs;
    const now = runs.map(({ id, version }) => `${id}${version}`).join();
    if (now !== seen) [seen, movedAtMs] = [now, nowMs];
    if (nowMs - movedAtMs > bounds.idleMs || nowMs - startedAtMs > bounds.mostMs) return nowMs - startedAtMs;
    for (const run of runs) await healOne(run, people);
    await sleep(LOOK_MS);
  }
}

async function healOne(run: Run, people: People): Promise<void> {
  if (run.pendingId !== undefined) {
    const sight = await people.look(run.pendingId);
    if (sight) await answerPlainly(sight, people);
  } else if (run.owes.length > 0 && ["awaiting_input", "deferred", "blocked"].includes(run.status)) {
    await people.doToRun({ do: "resume run", runId: run.id, by: "ada", way: "rest" });
  } else if (run.status === "blocked") {
    await people.doToRun({ do: "cancel run", runId: run.id, by: "ada", way: "rest" });
  }
}

/** Says the first option, as often as people are needed for it; what settles is left alone. */
export async function answerPlainly({ question, content }: Sight, people: People): Promise<void> {
  if (question.status !== "pending" || question.settling) return;
  const value = content.items[0]?.options[0]?.value;
  const said = {
    ...PLAIN,
    values: value === undefined ? [] : [value],
    text: value === undefined ? "so be it" : undefined,
  };
  const voters = question.approvals.need > 1 ? PEOPLE.slice(0, question.approvals.need) : PEOPLE.slice(0, 1);
  for (const by of voters) await people.do({ do: "answer", id: question.id, by, way: "rest", said });
}
