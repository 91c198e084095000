import { CHAIN_START, type KeptEvent, chainHash } from "../core/event.ts";
import { type Flaw, sayFlaw } from "../core/flaw.ts";
import { type RunId, STORE_CHAIN, shortId } from "../core/id.ts";
import type { Question } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import { Refusal } from "../core/refusal.ts";
import { readSeal } from "../core/seal.ts";
import type { Store } from "../store/store.ts";
import type { Verified } from "./engine.ts";

const PAGE = 500;
type Chain = Awaited<ReturnType<Store["readChain"]>>;
const CHANGES_NOTHING: ReadonlySet<string> = new Set(["question.late_reply", "question.refused", "question.linked"]);

/** Reads the whole trail and compares it with itself, with the seals, and with the state of every run and question. */
export async function verify(store: Store): Promise<Verified> {
  const damage = await store.findDamage("whole");
  // What is read from a damaged file says nothing about the trail.
  if (damage.length > 0) return tell({ runs: 0, events: 0, seals: 0 }, damage.map(toDamaged));
  try {
    return await compare(store);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "store_unusable") throw error;
    return tell({ runs: 0, events: 0, seals: 0 }, [toDamaged(error.message)]);
  }
}

function toDamaged(what: string): Flaw {
  return { is: "damaged", what };
}

function tell(counts: Pick<Verified, "runs" | "events" | "seals">, flaws: readonly Flaw[]): Verified {
  return { ...counts, problems: flaws.map(sayFlaw), ...(flaws.length > 0 && { flaws }) };
}

async function compare(store: Store): Promise<Verified> {
  const flaws: Flaw[] = [];
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
    flaws.push(...checkChain(run, chain), ...checkState(run, questions, chain.events));
  }
  const own = await store.readChain(STORE_CHAIN);
  events += own.events.length;
  flaws.push(...checkStoreChain(own));
  const seals = await checkSeals(store, flaws);
  return tell({ runs, events, seals }, flaws);
}

/** The chain of the store itself: its tokens and people. */
function checkStoreChain(chain: Chain): Flaw[] {
  const [flaw] = checkChain({ number: 0 }, chain);
  return flaw && "line" in flaw ? [{ is: "store_trail", line: flaw.line }] : [];
}

function checkChain(run: Pick<Run, "number">, { events, head }: Chain): Flaw[] {
  let previous = CHAIN_START;
  for (const [index, kept] of events.entries()) {
    if (kept.n !== index + 1) return [{ is: "line_missing", run: run.number, line: index + 1 }];
    if (chainHash(previous, kept.body) !== kept.hash) return [{ is: "line_changed", run: run.number, line: kept.n }];
    previous = kept.hash;
  }
  if (head.n !== events.length || head.hash !== previous)
    return [{ is: "trail_cut", run: run.number, line: events.length, last: head.n }];
  return [];
}

function checkState(run: Run, questions: readonly Question[], events: readonly KeptEvent[]): Flaw[] {
  const flaws: Flaw[] = [];
  const lastOf = new Map<string, KeptEvent["event"]>();
  for (const { event } of events) {
    if (event.type.startsWith("alert.")) continue; // it tells of the whole store, in the trail of whoever made the difference
    const name = event.questionId ?? "run";
    // What changed nothing is written down without a look at what happens beside it: its line may be older than its place.
    if (!CHANGES_NOTHING.has(event.type) || !lastOf.has(name)) lastOf.set(name, event);
  }
  const ofRun = lastOf.get("run");
  if (ofRun && ofRun.to !== run.status)
    flaws.push({ is: "run_differs", run: run.number, status: run.status, told: ofRun.to });
  for (const question of questions) {
    const last = lastOf.get(question.id);
    const name = shortId(question.id);
    if (!last) flaws.push({ is: "untold", question: name });
    else if (last.to !== question.status || last.version !== question.version) {
      const { status, version } = question;
      flaws.push({ is: "question_differs", question: name, status, version, told: last.to, toldVersion: last.version });
    }
  }
  return flaws;
}

async function checkSeals(store: Store, flaws: Flaw[]): Promise<number> {
  let previous = "";
  let count = 0;
  for (;;) {
    const page = await store.listSeals(count, PAGE);
    for (const kept of page) {
      count += 1;
      if (kept.n !== count || chainHash(previous, kept.body) !== kept.hash) {
        flaws.push({ is: "seal_changed", seal: kept.n });
        return count;
      }
      previous = kept.hash;
      flaws.push(...(await checkHeads(store, kept.n, readSeal(kept).heads)));
    }
    if (page.length < PAGE) return count;
  }
}

async function checkHeads(
  store: Store,
  n: number,
  heads: Record<string, { n: number; hash: string }>,
): Promise<Flaw[]> {
  const flaws: Flaw[] = [];
  for (const [runId, head] of Object.entries(heads)) {
    const chain = await store.readChain(runId as RunId); // written by us as a run's id
    if (chain.events[head.n - 1]?.hash !== head.hash) flaws.push({ is: "rewritten", seal: n, id: runId, line: head.n });
  }
  return flaws;
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
