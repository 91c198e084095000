import { Cursor } from "../../../core/api/run-route.ts";
import { EventView, viewEvent } from "../../../core/api/reply.ts";
import { EventType, type KeptEvent } from "../../../core/trail/event.ts";
import type { RunId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { wrongUsage } from "../../arguments.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readPositiveInteger } from "../../arguments.ts";
import type { Flags, Values } from "../../flags.ts";
import { renderJson } from "../../json.ts";
import { parsePast } from "../../view/time-argument.ts";
import { pauseFor } from "../../terminal/pause.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../target.ts";
import { type WatchedEvent, renderWatchedEvent } from "./watch-view.ts";

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
type Given = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "watch [--since <time>] [--run <run>] [--json]",
  flags,
  fields: FIELDS,
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
    await sayHello(engine, context);
    const after = await startOf(engine, args.flags, context);
    const reader = new Reader(engine, context);
    const wanted = ({ event }: KeptEvent): boolean => sees(event.type) && (run === undefined || event.runId === run);
    return follow({ engine, after, limit, signal, wanted, reader }, context);
  },
};

/** Prints at once that the watch has started, and how many questions wait. */
async function sayHello(engine: Engine, context: Context): Promise<void> {
  if (context.isQuiet || context.json) return;
  const waiting = await engine.countQuestions("pending");
  const waits =
    waiting === 0 ? "nothing is waiting" : `${waiting} ${waiting === 1 ? "question is" : "questions are"} waiting`;
  context.stderr.write(`Watching; ${waits}. Stop with Ctrl-C\n`);
}

/** Where to start: after an event, at a time, or now. */
async function startOf(engine: Engine, { after, since }: Given, context: Context): Promise<string> {
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
}

async function follow({ engine, after, limit, signal, wanted, reader }: Following, context: Context): Promise<number> {
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
    if (kept.event.type === "question.asked") stderr.write(bellFor(this.#context));
    stdout.write(renderWatchedEvent(happening, { now: await this.#engine.now(), ahead, program }, style));
  }

  async #find(kept: KeptEvent): Promise<WatchedEvent> {
    const { questionId, runId } = kept.event;
    if (questionId === undefined) return { ...kept, run: await this.#findRun(runId), read: undefined };
    const read = await this.#engine.read(questionId);
    return { ...kept, run: read.run, read };
  }

  #findRun(id: RunId) {
    return this.#engine.findRun(id);
  }
}

function readCursor(text: string): string {
  if (Cursor.safeParse(text).success) return text;
  throw new Refusal("bad_input", `"${oneLine(text).slice(0, 40)}" is not a cursor`, {
    hint: "Use the field cursor of: askd watch --json",
  });
}

function seesType(wanted: readonly string[] | undefined): (type: string) => boolean {
  if (!wanted) return () => true;
  const names = wanted.flatMap((each) => each.split(",")).map((each) => each.trim());
  const known: readonly string[] = EventType.options;
  const isKnown = (name: string): boolean =>
    name.endsWith(".*") ? known.some((type) => type.startsWith(name.slice(0, -1))) : known.includes(name);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    throw new Refusal("bad_input", `There is no event "${oneLine(unknown).slice(0, 60)}"`, {
      hint: "Use names like question.asked, question.answered, run.completed, or question.*",
    });
  }
  return (type) => names.some((name) => (name.endsWith(".*") ? type.startsWith(name.slice(0, -1)) : type === name));
}
