import type { Anchor } from "../../core/trail/anchor.ts";
import { type TrailMismatch, describeTrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { type RunId, STORE_CHAIN, shortId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { requiredQuestionJobs, requiredRunJobs } from "../../core/trail/required-job.ts";
import { RUN_ROW, digestOf } from "../../core/trail/row-digest.ts";
import type { Run } from "../../core/run/run.ts";
import { parseQuestion, parseRun } from "../../store/row.ts";
import type { StoredLine, StoredQuestion, StoredRun, StoreSnapshot } from "../../store/snapshot.ts";
import type { Store } from "../../store/store.ts";
import { ChainCheck } from "./chain-check.ts";
import type { Verified, VerifyOptions } from "../engine.ts";
import { MismatchList } from "./mismatch-list.ts";
import { RowCheck, checkColumns } from "./row-check.ts";
import { RowStream } from "./row-stream.ts";
import { checkSeals } from "./seal-check.ts";

const PAGE = 500;
const STORE_ROW = "the trail of tokens and people";
const STORE_COLUMNS: Readonly<Record<string, string | number>> = {
  id: STORE_CHAIN,
  version: 1,
  name: "",
  externalId: "",
  host: "",
  agent: "",
  session: "",
  parentId: "",
  status: "store",
  endedAt: "",
};

/**
 * Compares every row with the trail, and the trail with itself, with the seals and with anchors outside; and the schema
 * with what our migrations make: a trigger could change rows as they are written.
 */
export async function verify(store: Store, { anchors = [] }: VerifyOptions = {}): Promise<Verified> {
  const damage = await store.findDamage("whole");
  // Rows read from a damaged file prove nothing about the trail.
  if (damage.length > 0) return tell({ runs: 0, events: 0, seals: 0 }, damage.map(toDamaged));
  try {
    const now = await store.now();
    const differences = await store.findSchemaDifferences();
    const schema = differences.map((difference): TrailMismatch => ({ is: "schema_differs", ...difference }));
    return await store.readSnapshot((snapshot) => compare(snapshot, { now, anchors, schema }));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "store_unusable") throw error;
    return tell({ runs: 0, events: 0, seals: 0 }, [toDamaged(error.message)]);
  }
}

function toDamaged(what: string): TrailMismatch {
  return { is: "damaged", what };
}

function tell(counts: Pick<Verified, "runs" | "events" | "seals">, flaws: readonly TrailMismatch[]): Verified {
  return { ...counts, problems: flaws.map(describeTrailMismatch), ...(flaws.length > 0 && { flaws }) };
}

/**
 * Runs, questions and lines come in the order of run ids, so that one run is compared at a time. All of it is read as
 * it was at one moment: a commit that comes meanwhile is neither missed nor taken for damage.
 */
async function compare(
  snapshot: StoreSnapshot,
  { now, anchors, schema }: { now: Instant; anchors: readonly Anchor[]; schema: readonly TrailMismatch[] },
): Promise<Verified> {
  const flaws = new MismatchList();
  flaws.add(...schema);
  const rows = new RowCheck(snapshot, { flaws, now });
  const runs = new RowStream<StoredRun>((after) => snapshot.listRuns(after?.id ?? "", PAGE));
  const questions = new RowStream<StoredQuestion>((after) => snapshot.listQuestions(after, PAGE));
  const lines = new RowStream<StoredLine>((after) => snapshot.listLines(after, PAGE));
  const counts = { runs: 0, events: 0 };
  let hasStoreChain = false;
  for (let run = await runs.peek(); run !== undefined; run = await runs.peek()) {
    runs.take();
    const isStore = run.id === STORE_CHAIN;
    if (!isStore) counts.runs += 1;
    const chain = new ChainCheck(run);
    for await (const line of lines.takeUpTo(run.id, ({ runId }) => runId)) {
      if (line.runId === run.id) chain.take(line);
      else flaws.add({ is: "line_unknown", id: line.runId, line: line.n });
    }
    counts.events += chain.lines;
    const broken = chain.findFlaw();
    if (broken) flaws.add(isStore ? { is: "store_trail", line: broken.line } : broken);
    if (isStore) await compareStoreChain(run, chain, { rows, flaws });
    else await compareRun(run, chain, { questions, rows, flaws });
    hasStoreChain ||= isStore;
  }
  for (let line = await lines.peek(); line !== undefined; line = await lines.peek()) {
    lines.take();
    flaws.add({ is: "line_unknown", id: line.runId, line: line.n });
  }
  for (let question = await questions.peek(); question !== undefined; question = await questions.peek()) {
    questions.take();
    flaws.add({ is: "untold", question: shortId(question.id) });
  }
  if (!hasStoreChain) flaws.add({ is: "row_missing", row: STORE_ROW });
  await rows.finish();
  return tell({ ...counts, seals: await checkSeals(snapshot, flaws, anchors) }, flaws.all());
}

interface Comparison {
  questions: RowStream<StoredQuestion>;
  rows: RowCheck;
  flaws: MismatchList;
}

/** The chain of the store itself stands among the runs, in a row that nothing ever changes but its end. */
async function compareStoreChain(
  { body, columns }: StoredRun,
  { digests }: ChainCheck,
  { rows, flaws }: Pick<Comparison, "rows" | "flaws">,
): Promise<void> {
  const differing = Object.entries(columns).filter(([column, value]) => (value ?? "") !== STORE_COLUMNS[column]);
  flaws.add(...differing.map(([column]): TrailMismatch => ({ is: "column_differs", row: STORE_ROW, column })));
  if (body !== "{}") flaws.add({ is: "row_changed", row: STORE_ROW });
  await rows.expect(digests, new Set());
}

/** Compares a run and its questions with what its chain says was written, and notes which other rows there must be. */
async function compareRun(
  kept: StoredRun,
  { digests, lastOf }: ChainCheck,
  { questions, rows, flaws }: Comparison,
): Promise<void> {
  const row = `run #${kept.number}`;
  const run = readRow(() => parseRun(kept.body, kept.number));
  flaws.add(...checkRow(row, kept.body, digests.get(RUN_ROW)), ...checkColumns(row, kept.body, kept.columns));
  if (run) flaws.add(...checkRunState(run, kept, lastOf.get("run")));
  digests.delete(RUN_ROW);
  const required = new Set(run ? requiredRunJobs(run) : []);
  for await (const each of questions.takeUpTo(kept.id, ({ runId }) => runId)) {
    const name = shortId(each.id);
    const digest = each.runId === kept.id ? digests.get(each.id) : undefined;
    digests.delete(each.id);
    if (digest === undefined) {
      flaws.add({ is: "untold", question: name });
      continue;
    }
    flaws.add(...checkRow(name, each.body, digest), ...checkColumns(name, each.body, each.columns));
    const question = readRow(() => parseQuestion(each.body));
    if (question) flaws.add(...checkQuestionState(question, lastOf.get(each.id)));
    if (question && run) for (const key of requiredQuestionJobs(question, run)) required.add(key);
  }
  for (const name of digests.keys()) {
    if (!name.includes(" ")) flaws.add({ is: "row_missing", row: shortId(name) });
  }
  await rows.expect(digests, required);
}

function checkRow(row: string, body: string, digest: string | undefined): TrailMismatch[] {
  if (digest === undefined) return [{ is: "row_unknown", row }];
  return digestOf(body) === digest ? [] : [{ is: "row_changed", row }];
}

function checkRunState(run: Run, kept: StoredRun, last: { to: string } | undefined): TrailMismatch[] {
  const flaws: TrailMismatch[] = [];
  if (last && last.to !== run.status)
    flaws.push({ is: "run_differs", run: run.number, status: run.status, told: last.to });
  // The text of a run that was only written once does not have its number yet.
  const { number } = JSON.parse(kept.body) as Run; // read as a run before
  if (number !== 0 && number !== kept.number)
    flaws.push({ is: "column_differs", row: `run #${kept.number}`, column: "number" });
  return flaws;
}

function checkQuestionState(question: Question, last: { to: string; version: number } | undefined): TrailMismatch[] {
  const { status, version } = question;
  if (!last || (last.to === status && last.version === version)) return [];
  const told = { told: last.to, toldVersion: last.version };
  return [{ is: "question_differs", question: shortId(question.id), status, version, ...told }];
}

/** A row that cannot be read differs from what was written, and that is reported. */
function readRow<Row>(parse: () => Row): Row | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
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
