import { describeTrailMismatch } from "../../src/core/trail/trail-mismatch.ts";
import fc from "fast-check";
import type { ClosedQuestion, Question } from "../../src/core/question/question.ts";
import { type Instant, epochMs, instant } from "../../src/core/instant.ts";
import type { Rules } from "../../src/core/rules.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { NOON } from "../builders.ts";
import { ROOMY } from "../scene.ts";
import { type Known, perform } from "./perform.ts";
import { findBroken, type Kept, readAll } from "./promise.ts";
import { type Step, steps } from "./step.ts";
import { type Twin, twinEngine } from "./twin.ts";

const RULES: Rules = { ...ROOMY, confidence: { act: 0.8, ask: 0.5, below: "block" } };

/** A clock that several twins share. */
export class SharedClock {
  #ms = epochMs(NOON);
  readonly now = (): Instant => instant(this.#ms);
  readonly nowMs = (): number => this.#ms;

  pass(ms: number): void {
    this.#ms += ms;
  }

  reset(): void {
    this.#ms = epochMs(NOON);
  }
}

export interface Modelled {
  sequences: number;
  steps: number;
  /** How the steps ended, by what they did and what came of it. */
  ends: Record<string, number>;
}

interface Seen {
  text: string;
  kept: Kept[];
  broken: string[];
}

/** Runs random sequences on all twins and throws with the shortest one on which they disagree or a promise breaks. */
export async function model(twins: readonly Twin[], clock: SharedClock, sequences: number): Promise<Modelled> {
  const modelled: Modelled = { sequences: 0, steps: 0, ends: {} };
  const holds = fc.asyncProperty(steps, async (sequence) => {
    modelled.sequences += 1;
    await runSequence(twins, clock, sequence, (step, end) => {
      modelled.steps += 1;
      const name = `${step.do}: ${end}`;
      modelled.ends[name] = (modelled.ends[name] ?? 0) + 1;
    });
  });
  await fc.assert(holds, { numRuns: sequences, interruptAfterTimeLimit: undefined });
  return modelled;
}

async function runSequence(
  twins: readonly Twin[],
  clock: SharedClock,
  sequence: readonly Step[],
  count: (step: Step, end: string) => void,
): Promise<void> {
  clock.reset();
  for (const twin of twins) {
    await twin.empty();
    await twin.setTime(clock.now());
  }
  const engines = twins.map((twin) => twinEngine(twin, RULES, clock.nowMs));
  let before: Kept[] = [];
  try {
    for (const step of sequence) {
      if (step.do === "pass") clock.pass(step.ms);
      if (step.do === "pass") await Promise.all(twins.map((twin) => twin.setTime(clock.now())));
      const known = knownFrom(before, clock.now());
      const ends = await Promise.all(engines.map((engine) => perform(engine, step, known)));
      requireSame("what became of it", twins, ends);
      count(step, ends[0] ?? "");
      before = await requireSameRows(twins, before);
    }
    await requireClean(twins, engines);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
}

function knownFrom(kept: readonly Kept[], now: Instant): Known {
  const questions = kept.flatMap((each) => each.questions.map((question) => question.id)).sort();
  return { questions, runs: kept.map(({ run }) => run.id), now, rules: RULES };
}

async function requireSameRows(twins: readonly Twin[], before: readonly Kept[]): Promise<Kept[]> {
  const seen = await Promise.all(twins.map((twin) => look(twin)));
  const texts = seen.map((each) => each.text);
  requireSame("the rows", twins, texts);
  const first = seen[0];
  if (!first) return [];
  const broken = [...first.broken, ...findReopened(before, first.kept)];
  if (broken.length > 0) throw new Error(`Promises do not hold:\n${broken.join("\n")}`);
  return first.kept;
}

async function requireClean(twins: readonly Twin[], engines: readonly LocalEngine[]): Promise<void> {
  for (const [index, engine] of engines.entries()) {
    const { flaws = [] } = await engine.verify();
    // PostgreSQL's clock is replaced by one that a test moves.
    const problems = flaws.filter(({ is }) => is !== "schema_differs").map(describeTrailMismatch);
    if (problems.length > 0) throw new Error(`The trail of ${twins[index]?.name}:\n${problems.join("\n")}`);
  }
}

/**
 * All rows as one text. A run's number, the order in which outcomes got their ids and the order of fields, which changes
 * when a row is read anew, are the store's own affair.
 */
async function look(twin: Twin): Promise<Seen> {
  const { kept, jobs } = await readAll(twin.store);
  const due = jobs.map(({ key, kind, dueAt, tries, host, agent }) => ({ key, kind, dueAt, tries, host, agent }));
  due.sort((one, other) => (one.key < other.key ? -1 : 1));
  const rows = kept.map(({ run, ...rest }) => ({ ...rest, run: { ...run, number: 0 } }));
  return { text: nameOutcomes(JSON.stringify([rows, due], sortFields, 1)), kept, broken: findBroken({ kept, jobs }) };
}

function sortFields(_: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function nameOutcomes(text: string): string {
  const names = new Map<string, string>();
  return text.replace(/a_[0-9a-z]{26}/g, (id) => {
    const name = names.get(id) ?? `outcome ${names.size + 1}`;
    names.set(id, name);
    return name;
  });
}

function requireSame(what: string, twins: readonly Twin[], texts: readonly string[]): void {
  const other = texts.findIndex((text) => text !== texts[0]);
  if (other < 0) return;
  const [left = [], right = []] = [texts[0], texts[other]].map((text) => text?.split("\n"));
  const line = left.findIndex((each, index) => each !== right[index]);
  const [one, two] = [twins[0]?.name, twins[other]?.name];
  throw new Error(`${what} differs: ${one} has ${left[line]}, ${two} has ${right[line]} (line ${line})`);
}

/** Closed questions that are open again, or closed in another way. */
function findReopened(before: readonly Kept[], after: readonly Kept[]): string[] {
  const now = new Map(after.flatMap((each) => each.questions).map((question) => [question.id, question]));
  const closed = before.flatMap((each) => each.questions).filter((question) => question.status !== "pending");
  return closed
    .filter((question) => outcomeOf(question) !== outcomeOf(now.get(question.id)))
    .map((question) => `question ${question.id}: it was ${question.status} and is something else now`);
}

function outcomeOf(question: Question | ClosedQuestion | undefined): string {
  if (!question || question.status === "pending") return "open";
  return `${question.status} ${"answer" in question ? question.answer?.id : ""}`;
}
