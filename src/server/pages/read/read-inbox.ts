import { sayActor } from "../../../core/people/actor.ts";
import type { Read } from "../../../core/changes.ts";
import { type Place, compareUrgency, placeOf } from "../../../core/people/inbox.ts";
import type { QuestionId } from "../../../core/id.ts";
import { epochMs, msBetween } from "../../../core/instant.ts";
import { type Pending, type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { groupSame } from "../../../core/question/same-question.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Group, IdleView } from "../../../web/pages/inbox.tsx";
import { partOf } from "../../../web/parts/paging.tsx";
import { type Reader, startOfDay } from "../../../web/parts/reader.ts";

const MOST_PENDING = 2_000;
/** How many rows of a group a page has. */
const MOST_ROWS = 100;
const MOST_CLOSED = 50;
const MOST_RUNNING = 100;
const PLACES: readonly Place[] = ["waiting", "claimed", "others", "snoozed"];

/** What the inbox of one person holds. */
export interface Inbox {
  groups: Group[];
  /** Questions that wait for them, most urgent first, listed or not. */
  waiting: Pending[];
  /** Their own answer that can still be taken back. */
  settling: (Read & { question: Pending }) | undefined;
}

/** What somebody wants to see of their inbox. */
export interface InboxWish {
  /** Only what has these words. */
  find?: string;
  /** How many rows of each group come before this page. */
  from?: number;
  /** The question that is open; without `from` the page is the one that has it. */
  shows?: QuestionId;
}

/** Reads the questions that concern a person, most urgent first in every group. */
export async function readInbox(
  engine: Engine,
  reader: Reader,
  { find = "", from, shows }: InboxWish = {},
): Promise<Inbox> {
  const [pending, closed] = await Promise.all([
    readPending(engine),
    find === "" ? readClosedToday(engine, reader) : readClosed(engine, find),
  ]);
  const isMine = ({ settling }: Pending): boolean =>
    settling !== undefined && sayActor(settling.answer.by) === reader.id;
  const isWanted = finder(find);
  const open = pending.filter((question) => question.settling === undefined);
  const groups: Group[] = [];
  for (const name of PLACES) {
    const inside = open.filter((question) => placeOf(question, reader, reader.now) === name);
    const found = find === "" ? inside : await searchIn(engine, inside, isWanted);
    const start = from ?? pageOf(found, shows);
    const { items, part } = partOf(found, start, MOST_ROWS);
    const reads = await readAll(engine, items);
    const rows = name === "waiting" ? groupSame(reads) : reads.map((read) => [read] as const);
    if (items.length > 0) groups.push({ name, rows, part });
  }
  const name = find === "" ? "today" : "past";
  const rows = closed.map((read) => [read] as const);
  if (closed.length > 0) groups.push({ name, rows, part: partOf(closed, 0, MOST_ROWS).part });
  const [mine] = await readAll(engine, pending.filter(isMine).slice(-1));
  return {
    groups,
    waiting: whatWaits(pending, reader),
    settling: mine && isPending(mine.question) ? { ...mine, question: mine.question } : undefined,
  };
}

async function searchIn(
  engine: Engine,
  questions: readonly Pending[],
  isWanted: (read: Read) => boolean,
): Promise<Pending[]> {
  const reads = await readAll(engine, questions);
  return questions.filter((_, index) => reads[index] && isWanted(reads[index]));
}

/** Where the page begins that has a question; the first where it is on none. */
function pageOf(questions: readonly Pending[], shows: QuestionId | undefined): number {
  const place = shows === undefined ? 0 : questions.findIndex(({ id }) => id === shows);
  return place < 0 ? 0 : place - (place % MOST_ROWS);
}

/** The questions that wait for a person, most urgent first. */
export async function readWaiting(engine: Engine, reader: Reader): Promise<Pending[]> {
  return whatWaits(await readPending(engine), reader);
}

async function readPending(engine: Engine): Promise<Pending[]> {
  const listed = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_PENDING });
  return listed.filter(isPending).sort(compareUrgency);
}

function whatWaits(pending: readonly Pending[], reader: Reader): Pending[] {
  return pending.filter(
    (question) => question.settling === undefined && placeOf(question, reader, reader.now) === "waiting",
  );
}

/** What there is to tell where nothing waits. */
export async function readIdle(engine: Engine, reader: Reader, find: string): Promise<IdleView> {
  const running = await engine.listRuns({ statuses: ["running"], order: "newest", limit: MOST_RUNNING });
  const answered = await engine.listQuestions({ status: "answered", order: "newest", limit: MOST_CLOSED });
  const [newest] = await engine.listQuestions({ order: "newest", limit: 1 });
  const last = answered
    .flatMap((question) => {
      const answer = findAnswer(question);
      return answer
        ? [{ at: answer.at, by: answer.by, tookMs: Math.max(0, msBetween(question.askedAt, answer.at)) }]
        : [];
    })
    .sort((one, other) => other.at.localeCompare(one.at))[0];
  return { reader, running: running.length, last, isNew: newest === undefined, find };
}

async function readClosedToday(engine: Engine, reader: Reader): Promise<Read[]> {
  const since = startOfDay(reader);
  const states = ["answered", "timeout", "cancelled"] as const;
  const closed = await Promise.all(
    states.map((status) => engine.listQuestions({ status, order: "newest", limit: MOST_CLOSED })),
  );
  const today = closed
    .flat()
    .map((question) => ({ question, at: closedAt(question) }))
    .filter(({ at }) => at !== undefined && epochMs(at) >= since)
    .sort((one, other) => (other.at ?? "").localeCompare(one.at ?? ""));
  return readAll(
    engine,
    today.slice(0, MOST_CLOSED).map(({ question }) => question),
  );
}

/** The newest of all that are closed and have the words. */
async function readClosed(engine: Engine, find: string): Promise<Read[]> {
  return readAll(engine, await engine.listQuestions({ isClosed: true, order: "newest", limit: MOST_CLOSED, find }));
}

function closedAt(question: Question) {
  if (question.status === "cancelled") return question.cancelledAt;
  return question.status === "timeout" ? question.timedOutAt : findAnswer(question)?.at;
}

// A store gives the same row for the same text, so what a line of the list shows is read once for each version.
// Of the run a line shows its names only, which stay.
const lines = new WeakMap<Question, Read>();

async function readAll(engine: Engine, questions: readonly Question[]): Promise<Read[]> {
  const unread = questions.filter((question) => !lines.has(question));
  const reads = await engine.readMany(unread.map(({ id }) => id));
  // Of one that was changed since it was listed the older state is shown; the next page has the newer.
  for (const [index, question] of unread.entries()) {
    const read = reads[index];
    if (read) lines.set(question, { ...read, question });
  }
  return questions.flatMap((question) => lines.get(question) ?? []);
}

/** Says of a question whether it has what somebody looks for. */
function finder(find: string): (read: Read) => boolean {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return ({ question, run }) => {
    const text = `${question.title} #${run.number} ${run.name} ${run.externalId ?? ""} ${run.repo ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
