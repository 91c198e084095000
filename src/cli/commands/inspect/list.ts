import { Refusal } from "../../../core/refusal.ts";
import { needsMachine } from "../../../core/run/machine.ts";
import { shortId, type QuestionId, type RunId } from "../../../core/id.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Instant } from "../../../core/instant.ts";
import { MOST_LISTED } from "../../../core/api/route.ts";
import type { Question } from "../../../core/question/question.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { textWidth, type Style, cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { oneLine } from "../../view/sanitise.ts";
import { isStuck, sayDue } from "../../view/question-text.ts";
import { refOf, sayHeld } from "../../view/run-text.ts";
import { sayAgo, spellAgo } from "../../view/relative-time.ts";
import { parsePast } from "../../view/time-argument.ts";
import { getQuestionId, getRun } from "../../find-target.ts";
import { FILTER_FLAGS, type QuestionPredicate, readQuestionFilter } from "./question-filter.ts";

const DEFAULT_LIMIT = 30;
const MOST = 1000;

/** The most questions that one search reads. */
const MOST_SEARCHED = 10_000;
const SORTS = ["newest", "oldest", "due", "priority"] as const;
type Sort = (typeof SORTS)[number];
const STATES: Readonly<Record<string, Question["status"]>> = {
  pending: "pending",
  answered: "answered",
  timeout: "timeout",
  expired: "timeout",
  cancelled: "cancelled",
};
const LAST = "9999-12-31T23:59:59.999Z"; // later than every deadline

const flags = {
  awaiting: { type: "boolean", about: "Only waiting questions, oldest first, with context" },
  state: { type: "string", value: "state", about: "pending, answered, timeout or cancelled" },
  ...FILTER_FLAGS,
  since: { type: "string", value: "time", about: "Only questions asked since a time: 2h, 14:00 or 2026-11-15" },
  sort: { type: "string", value: "order", about: `${SORTS.join(", ")} (newest; with --awaiting oldest)` },
  after: { type: "string", value: "id", about: "Continue after this question, the last of the previous page" },
  limit: { type: "string", value: "count", about: `Show at most this many (${DEFAULT_LIMIT})` },
} as const satisfies Flags;
type ListFlags = typeof flags;

/** The data of `askd list`. */
interface ListView {
  now: Instant;
  width: number;
  questions: readonly QuestionSnapshot[];
}

type FlagValues = Values<ListFlags>;

/** The questions found, and whether there are more. */
interface FoundQuestions {
  reads: readonly QuestionSnapshot[];
  hasMore: boolean;
  /** Whether `--after` can continue from the last of these. */
  isPaged: boolean;
}

export const command: Command<typeof flags> = {
  usage: "list [--awaiting] [--mine] [--state <state>] [--run <run>]",
  isLong: () => true,
  flags,
  fields: QUESTION_FIELDS,
  examples: [
    "askd list --awaiting",
    "askd list --mine --sort due",
    "askd list --repo 'acme/*' --label night --since 2d",
    "askd list --state answered --json=id,title,answer",
  ],
  isLooking: () => true,
  async run(args, context) {
    const { awaiting, state, limit } = args.flags;
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    if (awaiting && state !== undefined) {
      throw wrongUsage("--awaiting and --state exclude each other: waiting questions are pending", command.usage);
    }
    const most = readLimit(limit);
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    const found = await findQuestions(engine, args.flags, most, context);
    const view = { now: await engine.now(), width: textWidth(context.stdout.columns), questions: found.reads };
    const runs = found.reads.map(({ run }) => run).filter(needsMachine);
    const machines = context.json ? await machinesFor(engine, runs, context) : undefined;
    printResult(context, QUESTION_FIELDS, {
      page: () => (awaiting ? renderAwaiting(view, context.style) : renderList(view, context.style)),
      json: () => found.reads.map((read) => viewQuestion(read, machines)),
    });
    sayMore(found, context);
    return 0;
  },
};

/** Says how to see the next page. */
function sayMore({ reads, hasMore, isPaged }: FoundQuestions, context: Context) {
  const last = reads.at(-1);
  if (!hasMore || !last || context.isQuiet) return;
  const next = isPaged ? `--after ${shortId(last.question.id)}` : `--limit ${Math.min(MOST, reads.length * 2)}`;
  context.stderr.write(`There are more. See them with the same command and ${next}\n`);
}

export function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new Refusal("bad_input", `--limit takes a number from 1 to ${MOST}`);
}

/** The output of `askd list --awaiting`, in the layout of task managers. */
export function renderAwaiting({ now, width, questions }: ListView, style: Style): string {
  if (questions.length === 0) return "Nothing is waiting for you.\n";
  const idCells = Math.max(...questions.map(({ run }) => cellsOf(refOf(run)))) + 3;
  const sizeCells = Math.max(...questions.map(({ run }) => cellsOf(oneLine(run.size ?? ""))));
  const indent = " ".repeat(idCells);
  const blocks = questions.map((read) => {
    const { run, question, content } = read;
    const size = sizeCells > 0 ? `${padCells(oneLine(run.size ?? ""), sizeCells)}  ` : "";
    return [
      `${padCells(refOf(run), idCells)}P${run.priority}  ${size}${style.bold(oneLine(run.name))}`,
      ...content.items.map((item) => `${indent}❓ ${oneLine(item.text)}`),
      ...(content.context ? [`${indent}Context: ${cutContext(content.context, width - idCells)}`] : []),
      `${indent}Asked: ${[spellAgo(question.askedAt, now), ...clauses(read, now)].join(" · ")}`,
    ].join("\n");
  });
  return `Awaiting Human Input:\n\n${blocks.join("\n\n")}\n`;
}

/** The state of a pending question that too few people are left to decide. */
const NO_QUORUM = "no quorum";

/** The output of `askd list`: one line per question. */
export function renderList({ now, width, questions }: ListView, style: Style): string {
  if (questions.length === 0) return "No questions.\n";
  const ids = questions.map(({ question }) => question.id);
  const rows = questions.map(({ run, question }) => [
    shortId(question.id, ids),
    isStuck(question) ? NO_QUORUM : question.status,
    refOf(run),
    sayAgo(question.askedAt, now),
    oneLine(question.title),
  ]);
  const columns = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) => {
    const left = columns.map((cells, column) => padCells(row[column] ?? "", cells)).join("  ");
    const line = `${left}  ${cutCells(row[4] ?? "", Math.max(20, width - cellsOf(left) - 2))}`;
    return row[1] === "pending" || row[1] === NO_QUORUM ? style.yellow(line) : line;
  });
  return `${lines.join("\n")}\n`;
}

function clauses(read: QuestionSnapshot, now: Instant) {
  const { question } = read;
  const due = sayDue(read, now);
  return [
    ...(question.status === "pending" && question.hold
      ? [`running (waiting for input, held ${sayHeld(question.hold, now)})`]
      : []),
    ...(due ? [due] : []),
    ...(question.claim ? [`claimed by ${oneLine(question.claim.by.id)}`] : []),
    ...(question.to.length > 0 ? [`for ${question.to.map(oneLine).join(", ")}`] : []),
  ];
}

function cutContext(context: string, cells: number) {
  const line = oneLine(context);
  const room = Math.max(20, cells - "Context: ".length);
  return cellsOf(line) <= room ? line : cutCells(line, room - 2).replace(/[.,;\s]*…$/, "...");
}

/** Searches questions. The store filters by status and run; everything else is filtered here. */
async function findQuestions(engine: Engine, given: FlagValues, most: number, context: Context) {
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
  const reads = await engine.readMany(sorted.slice(0, most).map(({ question }) => question.id));
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
      const run = await readRun(question, search);
      if (run && search.isMeant({ question, run })) rows.push({ question, run });
    }
    after = page.at(-1)?.id;
    const isPast = order === "newest" && wanted.length < page.length;
    if (page.length < MOST_LISTED || isPast) break;
  }
  return rows.slice(0, most);
}

/** The run of a question; undefined if its row is damaged or gone. */
async function readRun({ id, runId }: Question, { engine, runs }: Search) {
  const known = runs.get(runId);
  if (known) return known;
  const run = await engine.findRun(runId).catch(ignoreDamaged);
  if (run) runs.set(runId, run);
  else await engine.read(id).catch(ignoreDamaged); // which reports what is wrong
  return run;
}

function ignoreDamaged(error: unknown): undefined {
  if (error instanceof Refusal && error.code === "store_unusable") return undefined;
  throw error;
}

const ORDERS: Record<Exclude<Sort, "newest" | "oldest">, (one: Row, other: Row) => number> = {
  due: (one, other) => compare(one.question.dueAt ?? LAST, other.question.dueAt ?? LAST) || byAge(one, other),
  priority: (one, other) => one.run.priority - other.run.priority || byAge(one, other),
};

function byAge(one: Row, other: Row) {
  return compare(one.question.askedAt, other.question.askedAt);
}

function compare(one: string, other: string) {
  return one === other ? 0 : one < other ? -1 : 1;
}

async function readSince(engine: Engine, text: string | undefined, context: Context) {
  if (text === undefined) return undefined;
  return parsePast(text, await engine.now(), context);
}

function readSort(text: string | undefined, fallback: Sort) {
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
