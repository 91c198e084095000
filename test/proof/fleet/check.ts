import { findTold, type ModelRequest } from "../../e2e/journal.ts";
import { listRunProcesses } from "../../../src/agents/process/process-list.ts";
import { listEpochs } from "../../../src/agents/runner/run-files.ts";
import type { Run } from "../../../src/core/run/run.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { PlannedRun } from "./plan.ts";

/** How an answer is marked that the agent may have been told before. */
const REPEATED = /may have been told this already/;
const MOST_ASKED = 100;
const LAST_EVENTS = 15;

export interface Checked {
  faults: string[];
  /** What helps to understand them. */
  details: string[];
  /** How often its agent was started. */
  starts: number;
  /** Answers that were told again and said so. */
  repeats: number;
}

/** Looks at what became of one run: one line for each promise that was broken. */
export async function checkRun(
  engine: Engine,
  run: Run,
  plan: PlannedRun,
  seen: { requests: readonly ModelRequest[]; runDir: string },
): Promise<Checked> {
  const { requests, runDir } = seen;
  const asked = await engine.listQuestions({ runId: run.id, order: "oldest", limit: MOST_ASKED });
  const told = plan.questions.map(({ answer }) => tellings(requests, answer));
  const strays = await listRunProcesses(run.id);
  const faults = [
    ...(run.status === "completed" ? [] : [`it is ${run.status} (${run.reason ?? "no reason"})`]),
    ...plan.questions.flatMap(({ text }) => {
      const count = asked.filter(({ title }) => title.includes(text)).length;
      return count === 1 ? [] : [`"${text}" was asked ${count} times`];
    }),
    ...plan.questions.flatMap(({ answer }, index) => checkTold(answer, told[index] ?? [])),
    ...strays.map(({ pid, name, epoch }) => `process ${pid} (${name}) of epoch ${epoch} was left behind`),
  ];
  const repeats = told.flat().filter((text) => REPEATED.test(text)).length;
  return {
    faults: faults.map((fault) => `${plan.name} (#${run.number}): ${fault}`),
    details: faults.length > 0 ? await readTrail(engine, run) : [],
    starts: (await listEpochs(runDir, "out")).length,
    repeats,
  };
}

/** How the model was told an answer, in the conversation in which that happened most often. */
function tellings(requests: readonly ModelRequest[], answer: string): string[] {
  return requests
    .map(({ turns }) => findTold(turns, answer))
    .reduce((most, told) => (told.length > most.length ? told : most), []);
}

/**
 * An answer is told once; again only with the words that say so. A start that was killed before its agent read anything
 * may have told it as far as anybody knows: then even the first telling has these words.
 */
function checkTold(answer: string, told: readonly string[]): string[] {
  if (told.length === 0) return [`${answer} was never told`];
  const plain = told.filter((text) => !REPEATED.test(text)).length;
  return plain <= 1 ? [] : [`${answer} was told ${told.length} times, ${plain} of them as new`];
}

async function readTrail(engine: Engine, { id, number }: Run): Promise<string[]> {
  const chain = await engine.readChain(id);
  return chain.slice(-LAST_EVENTS).map(({ event }) => {
    const detail = JSON.stringify(event.detail ?? {});
    return `#${number} ${event.at.slice(11, 19)} ${event.type} ${event.questionId ?? ""} ${detail}`;
  });
}
