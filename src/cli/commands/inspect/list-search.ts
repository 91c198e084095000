import { MOST_LISTED } from "../../../core/api/route.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { QuestionId, RunId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import type { Question } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import type { Values } from "../../flags.ts";
import type { ListFlags } from "./list.ts";
import { parsePast } from "../../view/time-argument.ts";
import { type QuestionPredicate, readQuestionFilter } from "./question-filter.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getQuestionId, getRun } from "../../target.ts";

/** The most questions that one search reads. */
const MOST_SEARCHED = 10_000;
export const SORTS = ["newest", "oldest", "due", "priority"] as const;
type Sort = (typeof SORTS)[number];
const STATES: Readonly<Record<string, Question["status"]>> = {
  pending: "pending",
  answered: "answered",
  timeout: "timeout",
  expired: "timeout",
  cancelled: "cancelled",
};
const LAST = "9999-12-31T23:59:59.999Z"; // later than every deadline

type Given = Values<ListFlags>;

/** The questions found, and whether there are more. */
export interface FoundQuestions {
  reads: readonly QuestionSnapshot[];
  hasMore: boolean;
  /** Whether `--after` can continue from the last of these. */
  isPaged: boolean;
}

/** Searches questions. The store filters by status and run; everything else is filtered here. */
export async function findQuestions(
  engine: Engine,
  given: Given,
  most: number,
  context: Context,
): Promise<FoundQuestions> {
  const sort = readSort(given.sort, given.awaiting ? "oldest" : "newest");
  const isPaged = sort === "newest" || sort === "oldest";
  if (given.after !== undefined && !isPaged) {
    throw new Refusal("bad_input", `--after goes with --sort newest or oldest, not with ${sort}`);
  }
  const search: Search = {
    engine,
    order: sort === "oldest" ? "oldest" : "newest",
    status: given.awaiting ? "pending" : readState(given.state),
    runId: given.run === undefined ? undefined : (await getRun(engine, given.run)).id,
    after: given.after === undefined ? undefined : await getQuestionId(engine, given.after),
    since: await readSince(engine, given.since, context),
    isMeant: await readQuestionFilter({ ...given, run: undefined }, engine, context),
    runs: new Map(),
  };
  const found = await collect(search, isPaged ? most + 1 : MOST_SEARCHED);
  const sorted = isPaged ? found : found.toSorted(ORDERS[sort]);
  const reads = await Promise.all(sorted.slice(0, most).map(({ question }) => engine.read(question.id)));
  return { reads, hasMore: sorted.length > most, isPaged };
}

type Row = Parameters<QuestionPredicate>[0];

interface Search {
  engine: Engine;
  order: "newest" | "oldest";
  status: Question["status"] | undefined;
  runId: RunId | undefined;
  after: QuestionId | undefined;
  since: Instant | undefined;
  isMeant: QuestionPredicate;
  /** Runs already read: several questions may belong to one. */
  runs: Map<RunId, Run>;
}

async function collect(search: Search, most: number): Promise<Row[]> {
  const { engine, status, runId, order, since } = search;
  const rows: Row[] = [];
  let after = search.after;
  for (let seen = 0; rows.length < most && seen < MOST_SEARCHED; seen += MOST_LISTED) {
    const page = await engine.listQuestions({ status, runId, after, order, limit: MOST_LISTED });
    const wanted = page.filter((question) => since === undefined || question.askedAt >= since);
    for (const question of wanted) {
      const row = { question, run: await readRun(question.runId, search) };
      if (search.isMeant(row)) rows.push(row);
    }
    after = page.at(-1)?.id;
    const isPast = order === "newest" && wanted.length < page.length;
    if (page.length < MOST_LISTED || isPast) break;
  }
  return rows.slice(0, most);
}

async function readRun(id: RunId, { engine, runs }: Search): Promise<Run> {
  const known = runs.get(id);
  if (known) return known;
  const run = await engine.findRun(id);
  if (!run) throw new Refusal("not_found", `The run ${id} is gone`);
  runs.set(id, run);
  return run;
}

const ORDERS: Record<Exclude<Sort, "newest" | "oldest">, (one: Row, other: Row) => number> = {
  due: (one, other) => compare(one.question.dueAt ?? LAST, other.question.dueAt ?? LAST) || byAge(one, other),
  priority: (one, other) => one.run.priority - other.run.priority || byAge(one, other),
};

function byAge(one: Row, other: Row): number {
  return compare(one.question.askedAt, other.question.askedAt);
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

async function readSince(engine: Engine, text: string | undefined, context: Context): Promise<Instant | undefined> {
  if (text === undefined) return undefined;
  return parsePast(text, await engine.now(), context);
}

function readSort(text: string | undefined, fallback: Sort): Sort {
  if (text === undefined) return fallback;
  const sort = SORTS.find((name) => name === text);
  if (sort) return sort;
  throw new Refusal("bad_input", `There is no order "${oneLine(text)}"`, { hint: `Use ${SORTS.join(", ")}` });
}

function readState(state: string | undefined): Question["status"] | undefined {
  if (state === undefined) return undefined;
  const status = Object.hasOwn(STATES, state) ? STATES[state] : undefined;
  if (status) return status;
  throw new Refusal("bad_input", `There is no state "${oneLine(state)}"`, {
    hint: `Use ${Object.keys(STATES).join(", ")}`,
  });
}
