import type { Anchor } from "../../core/trail/anchor.ts";
import { CHAIN_START, type Event, chainHash } from "../../core/trail/event.ts";
import { type TrailMismatch, describeTrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { STORE_CHAIN, shortId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { requiredQuestionJobs, requiredRunJobs } from "../../core/trail/required-job.ts";
import { RUN_ROW, type RowDigests, digestOf } from "../../core/trail/row-digest.ts";
import { type ToldMessage, readToldMessage } from "../../core/trail/told-message.ts";
import type { Run } from "../../core/run/run.ts";
import { pageName } from "../../store/archive.ts";
import { parseQuestion, parseRun } from "../../store/row.ts";
import type { StoredLine, StoredQuestion, StoredRun, StoreSnapshot } from "../../store/snapshot.ts";
import type { Store } from "../../store/store.ts";
import type { Verified, VerifyOptions } from "../engine.ts";
import { QuestionOrder } from "./question-order.ts";
import { MismatchList, RowCheck, checkColumns } from "./row-check.ts";
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

/** Events that tell of something without changing it: their line may be older than its place. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set(["question.late_reply", "question.refused", "question.linked"]);

type ChainFlaw = Extract<TrailMismatch, { is: "line_missing" | "line_changed" | "trail_cut" }>;

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

/** Compares the rows and the trail alone, until the signal says that it takes too long. */
export async function compareRows(store: Store, signal: AbortSignal): Promise<readonly TrailMismatch[]> {
  const now = await store.now();
  const compared = await store.readSnapshot((snapshot) => compare(snapshot, { now, anchors: [], schema: [], signal }));
  return compared.flaws ?? [];
}

interface CompareOptions {
  now: Instant;
  anchors: readonly Anchor[];
  schema: readonly TrailMismatch[];
  signal?: AbortSignal;
}

/**
 * Runs, questions and lines come in the order of run ids, so that one run is compared at a time. All of it is read as
 * it was at one moment: a commit that comes meanwhile is neither missed nor taken for damage.
 */
async function compare(snapshot: StoreSnapshot, { now, anchors, schema, signal }: CompareOptions): Promise<Verified> {
  const flaws = new MismatchList();
  flaws.add(...schema);
  const rows = new RowCheck(snapshot, { flaws, now });
  const order = new QuestionOrder();
  const runs = new RowStream<StoredRun>((after) => snapshot.listRuns(after?.id ?? "", PAGE));
  const questions = new RowStream<StoredQuestion>((after) => snapshot.listQuestions(after, PAGE));
  const lines = new RowStream<StoredLine>((after) => snapshot.listLines(after, PAGE));
  const counts = { runs: 0, events: 0 };
  let hasStoreChain = false;
  for (let run = await runs.peek(); run !== undefined; run = await runs.peek()) {
    runs.take();
    signal?.throwIfAborted();
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
    else await compareRun(run, chain, { questions, rows, order, flaws });
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
  flaws.add(...order.findFlaws());
  await rows.finish();
  const seals = await checkSeals(snapshot, flaws, anchors);
  // First, because the rows and lines in it are what most others tell of.
  const damaged = snapshot.listDamagedPages().map(({ page }) => toDamaged(pageName(page)));
  return tell({ ...counts, seals }, [...damaged, ...flaws.all()]);
}

interface Comparison {
  questions: RowStream<StoredQuestion>;
  rows: RowCheck;
  order: QuestionOrder;
  flaws: MismatchList;
}

/** The chain of the store itself stands among the runs, in a row that nothing ever changes but its end. */
async function compareStoreChain(
  { body, columns }: StoredRun,
  { digests }: ChainCheck,
  { rows, flaws }: Pick<Comparison, "rows" | "flaws">,
) {
  const differing = Object.entries(columns).filter(([column, value]) => (value ?? "") !== STORE_COLUMNS[column]);
  flaws.add(...differing.map(([column]): TrailMismatch => ({ is: "column_differs", row: STORE_ROW, column })));
  if (body !== "{}") flaws.add({ is: "row_changed", row: STORE_ROW });
  await rows.expect(digests, new Set());
}

/** Compares a run and its questions with what its chain says was written, and notes which other rows there must be. */
async function compareRun(
  kept: StoredRun,
  { digests, firstOf, lastOf, messages, refused }: ChainCheck,
  { questions, rows, order, flaws }: Comparison,
) {
  const row = `run #${kept.number}`;
  const run = readRow(() => parseRun(kept.body, kept.number));
  flaws.add(...checkRow(row, kept.body, digests.get(RUN_ROW)), ...checkColumns(row, kept.body, kept.columns));
  if (run) flaws.add(...checkRunState(run, kept, lastOf.get("run")));
  digests.delete(RUN_ROW);
  const required = new Set(run ? requiredRunJobs(run) : []);
  if (run) rows.expectDeliveries(run, messages.get("run"));
  for (const [id, tries] of refused) rows.expectRefused(id, tries);
  for await (const each of questions.takeUpTo(kept.id, ({ runId }) => runId)) {
    const name = shortId(each.id);
    const digest = each.runId === kept.id ? digests.get(each.id) : undefined;
    digests.delete(each.id);
    if (digest === undefined) {
      flaws.add({ is: "untold", question: name });
      continue;
    }
    if (each.place !== undefined) order.note(each.place, firstOf.get(each.id) ?? 0);
    flaws.add(...checkRow(name, each.body, digest), ...checkColumns(name, each.body, each.columns));
    const question = readRow(() => parseQuestion(each.body));
    if (question) flaws.add(...checkQuestionState(question, lastOf.get(each.id)));
    if (question) rows.expectDeliveries(question, messages.get(question.id));
    if (question && run) for (const key of requiredQuestionJobs(question, run)) required.add(key);
  }
  for (const name of digests.keys()) {
    if (!name.includes(" "))
      flaws.add({ is: "row_missing", row: shortId(name), lost: { table: "question", id: name, runId: kept.id } });
  }
  await rows.expect(digests, required);
}

function checkRow(row: string, body: string, digest: string | undefined): TrailMismatch[] {
  if (digest === undefined) return [{ is: "row_unknown", row }];
  return digestOf(body) === digest ? [] : [{ is: "row_changed", row }];
}

function checkRunState(run: Run, kept: StoredRun, last: { to: string } | undefined) {
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
function readRow<Row>(parse: () => Row) {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Reads one chain line by line: is it whole, what are its rows, and how did it leave each question? */
class ChainCheck {
  /** The last digest of each row, without what is gone. */
  readonly digests = new Map<string, string>();
  /** The place of the line that first names each question here; of those that were imported, that of the import. */
  readonly firstOf = new Map<string, number>();
  /** The last event of each question, and of the run itself under "run". */
  readonly lastOf = new Map<string, Pick<Event, "to" | "version">>();
  /** The fate of the messages about each question, and about the run itself under "run". */
  readonly messages = new Map<string, ToldMessage[]>();
  /** How many refused tries on each question were told of last. */
  readonly refused = new Map<string, number>();
  lines = 0;
  readonly #run: StoredRun;
  #previous: Pick<StoredLine, "hash" | "xid" | "seq"> = { hash: CHAIN_START, xid: 0, seq: 0 };
  #flaw: ChainFlaw | undefined;

  constructor(run: StoredRun) {
    this.#run = run;
  }

  take(line: StoredLine) {
    this.lines += 1;
    this.#flaw ??= this.#checkLine(line);
    this.#previous = line;
    const event = readEvent(line.body);
    if (event === undefined) return;
    for (const [row, digest] of Object.entries(event.rows ?? {})) {
      if (digest === null) this.digests.delete(row);
      else this.digests.set(row, digest);
    }
    if (event.questionId !== undefined && !this.firstOf.has(event.questionId))
      this.firstOf.set(event.questionId, line.seq);
    if (event.type === "run.imported") {
      for (const id of this.firstOf.keys()) this.firstOf.set(id, line.seq);
      this.refused.clear(); // an export has no counts
    }
    this.#noteFacts(event);
    // An alert tells of the whole store, in the trail of the question that made the difference.
    if (event.type.startsWith("alert.")) return;
    const name = event.questionId ?? "run";
    const last = this.lastOf.get(name);
    // The event of a message has the version that it shows; the question or run may have changed since.
    if (last && (CHANGES_NOTHING.has(event.type) || event.version < last.version)) return;
    this.lastOf.set(name, { to: event.to, version: event.version });
  }

  #noteFacts(event: ReadEvent) {
    const { type, questionId, detail } = event;
    const message = readToldMessage(event);
    const subject = questionId ?? "run";
    if (message) this.messages.set(subject, [...(this.messages.get(subject) ?? []), message]);
    const tries = detail?.["tries"];
    if (type === "question.refused" && questionId !== undefined && typeof tries === "number")
      this.refused.set(questionId, tries);
  }

  /** The first place where the chain is broken, if there is one. */
  findFlaw(): ChainFlaw | undefined {
    if (this.#flaw) return this.#flaw;
    const { chain, lastSeq, number } = this.#run;
    const isEnd = chain.n === this.lines && chain.hash === this.#previous.hash;
    const isLinked = lastSeq === undefined || lastSeq === this.#previous.seq;
    return isEnd && isLinked ? undefined : { is: "trail_cut", run: number, line: this.lines, last: chain.n };
  }

  #checkLine(line: StoredLine): ChainFlaw | undefined {
    const { number: run } = this.#run;
    if (line.n !== this.lines) return { is: "line_missing", run, line: this.lines };
    const isLinked = line.before === undefined || line.before === this.#previous.seq;
    const { xid, seq } = this.#previous;
    // In PostgreSQL a transaction that began first may be the second to get its turn: only lines of one transaction, and
    // all of SQLite, stand in the order of their numbers.
    const isLater = line.xid !== xid || line.seq > seq;
    const isWhole = chainHash(this.#previous.hash, line.body) === line.hash;
    return isWhole && isLinked && isLater ? undefined : { is: "line_changed", run, line: line.n };
  }
}

type ReadEvent = Pick<Event, "type" | "at" | "questionId" | "to" | "version" | "detail"> & { rows?: RowDigests };

/** The checked fields of a line that may have been changed; undefined if it is no event. */
function readEvent(body: string) {
  try {
    const raw = JSON.parse(body) as ReadEvent | null; // its hash says whether we wrote it
    return typeof raw?.type === "string" ? raw : undefined;
  } catch {
    return undefined; // its hash is wrong, which is the flaw
  }
}
