import { CHAIN_START, type KeptEvent, chainHash } from "../core/event.ts";
import { type RunId, shortId } from "../core/id.ts";
import type { Question } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import { readSeal } from "../core/seal.ts";
import type { Store } from "../store/store.ts";
import type { Verified } from "./engine.ts";

const PAGE = 500;
const CHANGES_NOTHING: ReadonlySet<string> = new Set(["question.late_reply", "question.refused", "question.linked"]);

/** Reads the whole trail and compares it with itself, with the seals, and with the state of every run and question. */
export async function verify(store: Store): Promise<Verified> {
  const problems: string[] = [];
  let runs = 0;
  let events = 0;
  for await (const run of allRuns(store)) {
    runs += 1;
    const chain = await store.readChain(run.id);
    events += chain.events.length;
    // Read again: a commit between the two reads is no damage.
    const now = await store.findRun(run.id);
    const questions = await allQuestions(store, run.id);
    if (now?.version !== run.version) continue;
    problems.push(...checkChain(run, chain), ...checkState(run, questions, chain.events));
  }
  const seals = await checkSeals(store, problems);
  return { runs, events, seals, problems };
}

function checkChain(run: Run, { events, head }: { events: KeptEvent[]; head: { n: number; hash: string } }): string[] {
  let previous = CHAIN_START;
  for (const [index, kept] of events.entries()) {
    if (kept.n !== index + 1) return [`run #${run.number}: line ${index + 1} of its trail is missing`];
    if (chainHash(previous, kept.body) !== kept.hash)
      return [`run #${run.number}: line ${kept.n} of its trail was changed`];
    previous = kept.hash;
  }
  if (head.n !== events.length || head.hash !== previous)
    return [`run #${run.number}: its trail ends at line ${events.length}, not at line ${head.n}`];
  return [];
}

function checkState(run: Run, questions: readonly Question[], events: readonly KeptEvent[]): string[] {
  const problems: string[] = [];
  const lastOf = new Map<string, KeptEvent["event"]>();
  for (const { event } of events) {
    if (event.type.startsWith("alert.")) continue; // it tells of the whole store, in the trail of whoever made the difference
    const name = event.questionId ?? "run";
    // What changed nothing is written down without a look at what happens beside it: its line may be older than its place.
    if (!CHANGES_NOTHING.has(event.type) || !lastOf.has(name)) lastOf.set(name, event);
  }
  const ofRun = lastOf.get("run");
  if (ofRun && ofRun.to !== run.status)
    problems.push(`run #${run.number}: it is ${run.status}, its trail says ${ofRun.to}`);
  for (const question of questions) {
    const last = lastOf.get(question.id);
    if (!last) problems.push(`${shortId(question.id)}: nothing in the trail`);
    else if (last.to !== question.status || last.version !== question.version) {
      problems.push(
        `${shortId(question.id)}: it is ${question.status} at version ${question.version}, its trail says ${last.to} at ${last.version}`,
      );
    }
  }
  return problems;
}

async function checkSeals(store: Store, problems: string[]): Promise<number> {
  let previous = "";
  let count = 0;
  for (;;) {
    const page = await store.listSeals(count, PAGE);
    for (const kept of page) {
      count += 1;
      if (kept.n !== count || chainHash(previous, kept.body) !== kept.hash) {
        problems.push(`seal ${kept.n} was changed or one before it is missing`);
        return count;
      }
      previous = kept.hash;
      problems.push(...(await checkHeads(store, kept.n, readSeal(kept).heads)));
    }
    if (page.length < PAGE) return count;
  }
}

async function checkHeads(
  store: Store,
  n: number,
  heads: Record<string, { n: number; hash: string }>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [runId, head] of Object.entries(heads)) {
    const chain = await store.readChain(runId as RunId); // written by us as a run's id
    if (chain.events[head.n - 1]?.hash !== head.hash)
      problems.push(`seal ${n}: the trail of run ${runId} was rewritten before line ${head.n}`);
  }
  return problems;
}

async function* allRuns(store: Store): AsyncGenerator<Run> {
  let after: RunId | undefined;
  for (;;) {
    const page = await store.listRuns({ order: "oldest", limit: PAGE, ...(after && { after }) });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

/** Every question of a run, oldest first. */
export async function allQuestions(store: Store, runId: RunId): Promise<Question[]> {
  const all: Question[] = [];
  for (;;) {
    const last = all.at(-1)?.id;
    const page = await store.listQuestions({ runId, order: "oldest", limit: PAGE, ...(last && { after: last }) });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
