import { Cursor } from "../../../core/api/run-route.ts";
import { EventView, viewEvent } from "../../../core/api/reply.ts";
import { EventType, type KeptEvent, type Event } from "../../../core/trail/event.ts";
import { type RunId, STORE_CHAIN, shortId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Instant } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import { findAnswer, isPending } from "../../../core/question/question.ts";
import { type Run, isAnswerUntaken } from "../../../core/run/run.ts";
import { wrongUsage, readPositiveInteger } from "../../arguments.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { renderJson } from "../../json.ts";
import { parsePast } from "../../view/time-argument.ts";
import { lostWorkerLook } from "../../lost-worker.ts";
import { whoTypes } from "../../actor.ts";
import { reportPresence } from "../../presence.ts";
import { pauseFor } from "../../terminal/pause.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../find-target.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";
import { exampleAnswer } from "../../view/question-text.ts";
import { UNTAKEN, answerArgument, refOf, sayBy } from "../../view/run-text.ts";
import { type ClockOffset, sayMoment } from "../../view/relative-time.ts";

const PAGE = 500;
const LOOK_MS = 250;
/** How often to try again while a server restarts. */
const AWAY_MS = 2_000;
const FIELDS: readonly string[] = [...Object.keys(EventView.shape), "run_number", "run_name", "question"];

const flags = {
  since: { type: "string", value: "time", about: "Start with events since a time: 2h, 14:00 or 2026-11-15" },
  after: { type: "string", value: "cursor", about: "Start after the event with this cursor from --json" },
  run: { type: "string", value: "run", about: "Only events of this run" },
  type: {
    type: "string",
    multiple: true,
    value: "type",
    about: "Only events of this type: question.asked or question.*",
  },
  limit: { type: "string", value: "count", about: "End after this many events" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

const TEXT_CELLS = 200;

/** An event with its question or run, if it still exists. */
interface WatchedEvent extends KeptEvent {
  run: Run | undefined;
  read: QuestionSnapshot | undefined;
}

export const command: Command<typeof flags> = {
  usage: "watch [--since <time>] [--run <run>] [--json]",
  flags,
  fields: FIELDS,
  isLooking: () => true,
  examples: [
    "askd watch",
    "askd watch --since 1h --type 'question.*'",
    "askd watch --json --after 1042    one JSON object per line, from where you were",
  ],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const signal = context.interrupt();
    const sees = seesType(args.flags.type);
    const limit =
      args.flags.limit === undefined ? Number.POSITIVE_INFINITY : readPositiveInteger(args.flags.limit, "limit");
    const engine = await context.engine();
    const run = args.flags.run === undefined ? undefined : (await getRun(engine, args.flags.run)).id;
    const look = lostWorkerLook(engine, context);
    await look();
    await sayHello(engine, context);
    const after = await startOf(engine, args.flags, context);
    const reader = new Reader(engine, context);
    const wanted = ({ event }: KeptEvent) => sees(event.type) && (run === undefined || event.runId === run);
    // A program that reads the events is nobody's inbox.
    const isRead = context.stdout.isTty && !context.json;
    const leave = isRead ? reportPresence(engine, await whoTypes(engine, context)) : () => undefined;
    return follow({ engine, after, limit, signal, wanted, reader, look }, context).finally(leave);
  },
};

/** Prints at once that the watch has started, and how many questions wait. */
async function sayHello(engine: Engine, context: Context) {
  if (context.isQuiet || context.json) return;
  const waiting = await engine.countQuestions("pending");
  const waits =
    waiting === 0 ? "nothing is waiting" : `${waiting} ${waiting === 1 ? "question is" : "questions are"} waiting`;
  context.stderr.write(`Watching; ${waits}. Stop with Ctrl-C\n`);
}

/** Where to start: after an event, at a time, or now. */
async function startOf(engine: Engine, { after, since }: FlagValues, context: Context) {
  if (after !== undefined && since !== undefined) throw new Refusal("bad_input", "Use --after or --since, not both");
  if (after !== undefined) return readCursor(after);
  if (since === undefined) return engine.findFeedEnd();
  const from = parsePast(since, await engine.now(), context);
  for (let cursor = ""; ;) {
    const page = await engine.readFeed(cursor, PAGE);
    const first = page.findIndex(({ event }) => event.at >= from);
    if (first >= 0) return page[first - 1]?.cursor ?? cursor;
    cursor = page.at(-1)?.cursor ?? cursor;
    if (page.length < PAGE) return cursor;
  }
}

interface Following {
  engine: Engine;
  after: string;
  limit: number;
  signal: AbortSignal;
  wanted: (kept: KeptEvent) => boolean;
  reader: Reader;
  /** Looks for a worker that is gone. */
  look: () => Promise<void>;
}

async function follow({ engine, after, limit, signal, wanted, reader, look }: Following, context: Context) {
  let cursor = after;
  let told = 0;
  let isAway = false;
  while (!signal.aborted) {
    const wasAway = isAway;
    const page = await unlessAway(engine.readFeed(cursor, PAGE));
    isAway = page === "away";
    for (const kept of page === "away" ? [] : page) {
      if (wanted(kept)) {
        isAway = (await unlessAway(reader.tell(kept))) === "away";
        if (isAway) break; // nothing of it was written yet
        told += 1;
        if (told >= limit) return 0;
      }
      cursor = kept.cursor;
    }
    if (isAway && !wasAway && !context.isQuiet) {
      context.stderr.write("The server cannot be reached; retrying until Ctrl-C\n");
    }
    if (!isAway && page.length === PAGE) continue;
    await pauseFor(isAway ? AWAY_MS : LOOK_MS, signal, context);
    if (!isAway && context.place.store.kind !== "server") await engine.doDue();
    if (!isAway) await unlessAway(look());
  }
  return EXIT_CODE.interrupted;
}

/** The result, or undefined while the server cannot be reached. */
async function unlessAway<Found>(looking: Promise<Found>): Promise<Found | "away"> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Refusal && error.code === "store_unreachable") return "away";
    throw error;
  }
}

/** Prints events with the names of their runs and questions. */
class Reader {
  readonly #engine: Engine;
  readonly #context: Context;

  constructor(engine: Engine, context: Context) {
    this.#engine = engine;
    this.#context = context;
  }

  async tell(kept: KeptEvent): Promise<void> {
    const { stdout, stderr, json, style, ahead, program } = this.#context;
    const happening = await this.#find(kept);
    if (json) {
      const { run, read } = happening;
      const names = { run_number: run?.number ?? null, run_name: run?.name ?? null };
      const line = { ...viewEvent(kept), ...names, question: read?.question.title ?? null };
      return stdout.write(renderJson(line, json, { fields: FIELDS }));
    }
    if (kept.event.type === "question.asked") stderr.write(bellFor(this.#context, happening.read?.question.title));
    stdout.write(renderWatchedEvent(happening, { now: await this.#engine.now(), ahead, program }, style));
  }

  async #find(kept: KeptEvent) {
    const { questionId, runId } = kept.event;
    if (questionId === undefined) return { ...kept, run: await this.#findRun(runId), read: undefined };
    const read = await this.#engine.read(questionId);
    return { ...kept, run: read.run, read };
  }

  #findRun(id: RunId) {
    return this.#engine.findRun(id);
  }
}

function readCursor(text: string) {
  if (Cursor.safeParse(text).success) return text;
  throw new Refusal("bad_input", `"${oneLine(text).slice(0, 40)}" is not a cursor`, {
    hint: "Use the field cursor of: askd watch --json",
  });
}

function seesType(wanted: readonly string[] | undefined): (type: string) => boolean {
  if (!wanted) return () => true;
  const names = wanted.flatMap((each) => each.split(",")).map((each) => each.trim());
  const known: readonly string[] = EventType.options;
  const isKnown = (name: string) =>
    name.endsWith(".*") ? known.some((type) => type.startsWith(name.slice(0, -1))) : known.includes(name);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    throw new Refusal("bad_input", `There is no event "${oneLine(unknown).slice(0, 60)}"`, {
      hint: "Use names like question.asked, question.answered, run.completed, or question.*",
    });
  }
  return (type) => names.some((name) => (name.endsWith(".*") ? type.startsWith(name.slice(0, -1)) : type === name));
}

/** A line of `askd watch`; a new question has a second line with the command to answer it. */
function renderWatchedEvent(
  { event, run, read }: WatchedEvent,
  { now, ahead, program }: { now: Instant; ahead: ClockOffset; program: string },
  style: Style,
) {
  const moment = sayMoment(event.at, ahead);
  const isToday = moment.slice(0, 10) === sayMoment(now, ahead).slice(0, 10);
  const who = run ? `${refOf(run)} ${oneLine(run.name)}` : sayRunId(event.runId);
  const left = style.dim(isToday ? moment.slice(11) : moment);
  const line = `${left}  ${who}  ${isUntakenNow(event, run) ? UNTAKEN : say(event, read, style)}\n`;
  if (event.type !== "question.asked" || !read || !isPending(read.question)) return line;
  const indent = " ".repeat((isToday ? 8 : 19) + 2);
  return `${line}${indent}Answer with: ${program} answer ${answerArgument(read)} ${exampleAnswer(read)}\n`;
}

function sayRunId(id: RunId) {
  return id === STORE_CHAIN ? "store" : shortId(id);
}

/** Says whether the event reports an answer that a person has to deliver. */
function isUntakenNow({ type }: Event, run: Run | undefined) {
  return type === "run.resuming" && run !== undefined && isAnswerUntaken({ ...run, status: "resuming" });
}

function say(event: Event, read: QuestionSnapshot | undefined, style: Style) {
  const [kind = "", name = ""] = event.type.split(".");
  if (kind === "run") return sayRun(event, name, style);
  if (kind === "token" || kind === "person") return sayEntry(event, kind, name);
  if (event.questionId === undefined) return event.type;
  const id = shortId(event.questionId);
  const by = sayBy(event.by);
  const words = WORDS[event.type]?.({ id, by, event, read, style });
  if (words !== undefined) return words;
  return `${id} ${SAID[name] ?? name.replaceAll("_", " ")}${event.by.scope === "system" ? "" : ` by ${by}`}`;
}

/** The text for an event of a token or a person. */
function sayEntry({ detail = {}, by }: Event, kind: "token" | "person", name: string) {
  const about = kind === "token" ? `${word(detail["token"])} of ${word(detail["subject"])}` : word(detail["person"]);
  return `${kind} ${about} ${name.replaceAll("_", " ")} by ${sayBy(by)}`;
}

interface WatchLine {
  id: string;
  by: string;
  event: Event;
  read: QuestionSnapshot | undefined;
  style: Style;
}

/** Events with a text of their own. */
const WORDS: Partial<Record<Event["type"], (said: WatchLine) => string>> = {
  "question.asked": ({ id, read, style }) => style.yellow(`❓ ${id} ${cut(read?.question.title ?? "")}`),
  "question.answered": ({ id, by, read, style }) => style.green(`✓ ${id} answered by ${by}${sayAnswerText(read)}`),
  "question.forced": ({ id, by, read, style }) =>
    style.green(`✓ ${id} answered after its deadline by ${by}${sayAnswerText(read)}`),
  "question.settling": ({ id, by, read }) => `${id} answered by ${by}${sayAnswerText(read)}; it can still be undone`,
  "question.timed_out": ({ id, event, style }) =>
    style.red(`✗ ${id} timed out, policy: ${word(event.detail?.["policy"])}`),
  "question.cancelled": ({ id, by, style }) => style.red(`✗ ${id} cancelled by ${by}`),
  "question.commented": ({ id, by, read }) => `${id} commented by ${by}${quote(read?.question.comments.at(-1)?.text)}`,
  "question.amended": ({ id, by, read }) => `${id} corrected by ${by}${quote(read?.question.amendments.at(-1)?.text)}`,
  "question.assigned": ({ id, by, event }) => `${id} assigned to ${list(event.detail?.["to"])} by ${by}`,
  "question.escalated": ({ id, by, event }) => `${id} escalated to ${list(event.detail?.["to"])} by ${by}`,
};

/** Texts for events whose names say too little. */
const SAID: Readonly<Record<string, string>> = {
  undone: "answer taken back",
  owed: "answer to be delivered again",
  handing: "answer sent to the agent",
  given: "answer reached the agent",
  held: "held: the agent waits",
  announced: "goes to more people",
  notified: "people notified",
  delivery_failed: "notification failed",
  refused: "refused: not permitted, tried",
};

function sayRun(event: Event, name: string, style: Style) {
  const reason = typeof event.detail?.["reason"] === "string" ? ` (${oneLine(event.detail["reason"])})` : "";
  if (name === "completed") return style.green(`✓ completed${reason}`);
  return name === "failed" ? style.red(`✗ failed${reason}`) : `${name}${reason}`;
}

function sayAnswerText(read: QuestionSnapshot | undefined) {
  const settling = read && isPending(read.question) ? read.question.settling?.answer : undefined;
  const answer = settling ?? (read && findAnswer(read.question));
  if (!read || !answer) return "";
  const words = { answer: answerText(read.content, answer.items), decide: "You decide", clarify: answer.note ?? "" };
  return `: ${cut(words[answer.outcome])}`;
}

function quote(text: string | undefined) {
  return text === undefined ? "" : `: ${cut(text)}`;
}

function cut(text: string) {
  return cutCells(oneLine(text), TEXT_CELLS);
}

function word(value: unknown) {
  return typeof value === "string" ? oneLine(value) : "";
}

function list(value: unknown) {
  const names: unknown[] = Array.isArray(value) ? value : [];
  return names.length > 0 ? names.map(word).join(", ") : "everybody";
}
