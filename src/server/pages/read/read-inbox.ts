import { actorName } from "../../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type InboxSection, compareUrgency, inboxSectionOf } from "../../../core/people/inbox.ts";
import type { QuestionId } from "../../../core/id.ts";
import { epochMs, msBetween } from "../../../core/instant.ts";
import { type PendingQuestion, type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { groupSameQuestions } from "../../../core/question/same-question.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { InboxGroup, IdleView } from "../../../web/pages/inbox.tsx";
import { capCount, partOf } from "../../../web/parts/paging.tsx";
import { type PageReader, startOfDay } from "../../../web/parts/page-reader.ts";

const MOST_PENDING = 2_000;
/** Rows of a group per page. */
const MOST_ROWS = 100;
const MOST_CLOSED = 50;
const MOST_RUNNING = 100;
const PLACES: readonly InboxSection[] = ["waiting", "claimed", "others", "snoozed"];

/** The inbox of one person. */
export interface InboxData {
  groups: InboxGroup[];
  /** All questions that wait for them, most urgent first, also those on other pages. */
  waiting: PendingQuestion[];
  /** Their own answer that can still be undone. */
  settling: (QuestionSnapshot & { question: PendingQuestion }) | undefined;
}

/** Search and page of the inbox. */
export interface InboxQuery {
  /** Only questions that contain these words. */
  find?: string;
  /** Offset of the page in each group. */
  from?: number;
  /** The open question; without `from`, the page that contains it. */
  shows?: QuestionId;
}

/** Reads the questions that concern a person, most urgent first in every group. */
export async function readInbox(
  engine: Engine,
  reader: PageReader,
  { find = "", from, shows }: InboxQuery = {},
): Promise<InboxData> {
  const [pending, closed] = await Promise.all([
    readPending(engine),
    find === "" ? readClosedToday(engine, reader) : readClosed(engine, find),
  ]);
  const isMine = ({ settling }: PendingQuestion) =>
    settling !== undefined && actorName(settling.answer.by) === reader.id;
  const isWanted = finder(find);
  const open = pending.filter((question) => question.settling === undefined);
  const groups: InboxGroup[] = [];
  for (const name of PLACES) {
    const inside = open.filter((question) => inboxSectionOf(question, reader, reader.now) === name);
    const found = find === "" ? inside : await searchIn(engine, inside, isWanted);
    const start = from ?? pageOf(found, shows);
    const { items, part } = partOf(found, start, MOST_ROWS);
    const reads = await readAll(engine, items);
    const rows = name === "waiting" ? groupSameQuestions(reads) : reads.map((read) => [read] as const);
    if (items.length > 0) groups.push({ name, rows, part });
  }
  const name = find === "" ? "today" : "past";
  const shown = closed.slice(0, MOST_CLOSED);
  const rows = shown.map((read) => [read] as const);
  const { part } = partOf(shown, 0, MOST_ROWS);
  if (shown.length > 0) groups.push({ name, rows, part: { ...part, isCapped: closed.length > shown.length } });
  const [mine] = await readAll(engine, pending.filter(isMine).slice(-1));
  return {
    groups,
    waiting: whatWaits(pending, reader),
    settling: mine && isPending(mine.question) ? { ...mine, question: mine.question } : undefined,
  };
}

async function searchIn(
  engine: Engine,
  questions: readonly PendingQuestion[],
  isWanted: (read: QuestionSnapshot) => boolean,
) {
  const reads = await readAll(engine, questions);
  return questions.filter((_, index) => reads[index] && isWanted(reads[index]));
}

/** Offset of the page that contains a question; 0 if none does. */
function pageOf(questions: readonly PendingQuestion[], shows: QuestionId | undefined) {
  const place = shows === undefined ? 0 : questions.findIndex(({ id }) => id === shows);
  return place < 0 ? 0 : place - (place % MOST_ROWS);
}

/** Reads the questions that wait for a person, most urgent first. */
export async function readWaiting(engine: Engine, reader: PageReader): Promise<PendingQuestion[]> {
  return whatWaits(await readPending(engine), reader);
}

async function readPending(engine: Engine) {
  const listed = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_PENDING });
  return listed.filter(isPending).sort(compareUrgency);
}

function whatWaits(pending: readonly PendingQuestion[], reader: PageReader) {
  return pending.filter(
    (question) => question.settling === undefined && inboxSectionOf(question, reader, reader.now) === "waiting",
  );
}

/** Data for the page when no question waits. */
export async function readIdle(engine: Engine, reader: PageReader, find: string): Promise<IdleView> {
  const running = await engine.listRuns({ statuses: ["running"], order: "newest", limit: MOST_RUNNING + 1 });
  const answered = await engine.listQuestions({ status: "answered", order: "newest", limit: MOST_CLOSED });
  const [newest] = await engine.listQuestions({ order: "newest", limit: 1 });
  const last = answered
    .flatMap((question) => {
      const answer = findAnswer(question);
      return answer && answer.outcome !== "clarify"
        ? [{ at: answer.at, by: answer.by, tookMs: Math.max(0, msBetween(question.askedAt, answer.at)) }]
        : [];
    })
    .sort((one, other) => other.at.localeCompare(one.at))[0];
  return { reader, running: capCount(running.length, MOST_RUNNING), last, isNew: newest === undefined, find };
}

async function readClosedToday(engine: Engine, reader: PageReader) {
  const since = startOfDay(reader);
  const states = ["answered", "timeout", "cancelled"] as const;
  const closed = await Promise.all(
    states.map((status) => engine.listQuestions({ status, order: "newest", limit: MOST_CLOSED + 1 })),
  );
  const today = closed
    .flat()
    .map((question) => ({ question, at: closedAt(question) }))
    .filter(({ at }) => at !== undefined && epochMs(at) >= since)
    .sort((one, other) => (other.at ?? "").localeCompare(one.at ?? ""));
  return readAll(
    engine,
    today.slice(0, MOST_CLOSED + 1).map(({ question }) => question),
  );
}

/** The newest closed questions that contain the words; one more than are shown. */
async function readClosed(engine: Engine, find: string) {
  const filter = { isClosed: true, order: "newest", limit: MOST_CLOSED + 1, find } as const;
  return readAll(engine, await engine.listQuestions(filter));
}

function closedAt(question: Question) {
  if (question.status === "cancelled") return question.cancelledAt;
  return question.status === "timeout" ? question.timedOutAt : findAnswer(question)?.at;
}

// A store returns the same object for the same row text, so each version of a row is read once.
// Rows show only the names of the run, which never change.
const lines = new WeakMap<Question, QuestionSnapshot>();

async function readAll(engine: Engine, questions: readonly Question[]) {
  const unread = questions.filter((question) => !lines.has(question));
  const reads = await engine.readMany(unread.map(({ id }) => id));
  // A question that changed after it was listed is shown as listed; the next refresh has the new state.
  for (const [index, question] of unread.entries()) {
    const read = reads[index];
    if (read) lines.set(question, { ...read, question });
  }
  return questions.flatMap((question) => lines.get(question) ?? []);
}

/** Matches questions that contain all words of a search text. */
function finder(find: string): (read: QuestionSnapshot) => boolean {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return ({ question, run }) => {
    const text = `${question.title} #${run.number} ${run.name} ${run.externalId ?? ""} ${run.repo ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
