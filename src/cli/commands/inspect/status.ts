import { type Run, isAnswerHeldBack, isAnswerUntaken, isLoggedOut } from "../../../core/run/run.ts";
import { NO_TROUBLES } from "../../../core/run/failing-job.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { readRestoreAdvice } from "../../view/restore-advice.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { readUsage } from "../../run-usage.ts";
import { readAgentTries } from "../../view/agent-tries.ts";
import { startOfDay } from "../../view/relative-time.ts";
import { adviseResume, sayLogin } from "../../view/run-text.ts";
import { lostWorkerLook, replaceLostWorker } from "../../lost-worker.ts";
import { pauseFor } from "../../terminal/pause.ts";
import { warnUnpaired } from "../reach/pairing-warning.ts";
import { type StatusView, renderShortStatus, renderStatus } from "./status-view.ts";

const MOST_SHOWN = 100;
/** Of how many waiting questions the trail is read: more fit on no screen. */
const MOST_TRAILS = 20;
/** The lines of a page that is not printed on a terminal. */
const PAGE_ROWS = 50;
/** How many parked runs are searched for answers that were stored without resuming their run. */
const MOST_PARKED = 1_000;

const flags = {
  short: { type: "boolean", about: "One line for prompts and status bars: ?1 ▶1" },
  watch: { type: "boolean", about: "Update the output on every change, until Ctrl-C" },
  "exit-code": {
    type: "boolean",
    about: `Exit with 0 if nothing waits, ${EXIT_CODE.pending} if a question does; with --watch as soon as one does`,
  },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

const LOOK_MS = 1_000;
const HOME_AND_CLEAR = "\x1b[H\x1b[2J";

/** Reads and shows the status repeatedly. */
interface StatusWatch {
  read(): Promise<StatusView>;
  /** Renders the page or the line. */
  render(view: StatusView): string;
  isShort: boolean;
  /** Prints a page, a line or JSON. */
  print(view: StatusView): void;
  isOver(view: StatusView): boolean;
  doDue(): Promise<void>;
}

export const command: Command<typeof flags> = {
  usage: "status [--short] [--watch] [--exit-code]",
  flags,
  fields: [
    "waiting",
    "waiting_total",
    "answered",
    "running",
    "queued",
    "failing",
    "failed",
    "completed",
    "cancelled",
    "clocks",
    "damage",
    "unreadable",
    "channels",
  ],
  examples: ["askd status", "askd status --short", "askd status --exit-code || askd next"],
  isLooking: () => true,
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    if (args.flags.watch) return watch(args.flags, context);
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    if (!args.flags.short) await warnUnpaired(engine, context);
    const view = await readStatus(engine, args.flags, context);
    print(view, args.flags, context, await loadJson(context));
    if (view.damage.length + view.unreadable.length > 0) return EXIT_CODE.error;
    return args.flags["exit-code"] && view.waiting.length > 0 ? EXIT_CODE.pending : 0;
  },
};

async function watch(given: FlagValues, context: Context) {
  const signal = context.interrupt();
  const engine = await context.engine({ waits: { until: signal } });
  const viewJson = await loadJson(context);
  const look = lostWorkerLook(engine, context);
  const isFound = await watchStatus(
    {
      isShort: given.short === true,
      read: async () => {
        await look();
        return readStatus(engine, given, context);
      },
      render: (view) => render(view, given, context),
      print: (view) => print(view, given, { ...context, stdout: asLines(context.stdout) }, viewJson),
      isOver: (view) => given["exit-code"] === true && view.waiting.length > 0,
      doDue: async () => {
        const { store } = context.place;
        if (store.kind !== "server" && !store.isReadOnly) await engine.doDue();
      },
    },
    { ...context, interrupt: () => signal },
  );
  return isFound ? EXIT_CODE.pending : EXIT_CODE.interrupted;
}

/** One object per line, also on a terminal. */
function asLines(stdout: Context["stdout"]): Context["stdout"] {
  return { write: (text) => stdout.write(text), isTty: false, columns: stdout.columns };
}

/** Loaded on use: only JSON needs these schemas. */
async function loadJson({ json }: Context) {
  return json ? (await import("./status-json.ts")).viewStatus : () => ({});
}

function print(view: StatusView, given: FlagValues, context: Context, viewJson: (view: StatusView) => object) {
  printResult(context, command.fields ?? [], {
    page: () => render(view, given, context),
    json: () => viewJson(view),
  });
}

function render(view: StatusView, given: FlagValues, { style }: Context) {
  return given.short ? renderShortStatus(view) : renderStatus(view, style);
}

async function readStatus(engine: Engine, given: FlagValues, context: Context) {
  const now = await engine.now();
  const today = startOfDay(now, context.ahead);
  const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_SHOWN });
  const waiting = await engine.readMany(pending.map(({ id }) => id));
  // Counting reads every row, so it is done only if the list may be cut.
  const waitingTotal = pending.length < MOST_SHOWN ? pending.length : await engine.countQuestions("pending");
  const held = new Set(waiting.map(({ run }) => run.id));
  const list = (statuses: ReadonlyArray<Run["status"]>, more: object = {}) =>
    engine.listRuns({ statuses, order: "newest", limit: MOST_SHOWN, ...more });
  const active = await list(["running", "resuming"]);
  const rest = given.short ? await listAllAfter(engine, ["running", "resuming"], active) : [];
  const going = [...active, ...rest].filter((run) => !held.has(run.id));
  const running = going.filter((run) => !isAnswerUntaken(run));
  const heldBack = (await list(["awaiting_input", "deferred"], { limit: MOST_PARKED })).filter(isAnswerHeldBack);
  const untaken = going.filter(isAnswerUntaken);
  // The short form shows no commands, and finding them means reading the agents' records.
  const isShort = given.short === true && !context.json;
  const answered = isShort ? untaken.map((run) => ({ run, wayOn: undefined })) : await readUntaken(untaken, context);
  const failed = await list(["failed", "skipped"], { endedSince: today });
  const completed = await list(["completed"], { endedSince: today });
  const cancelled = await list(["cancelled"], { endedSince: today });
  const kept = await list(["queued", "blocked"]);
  const queued = kept.filter((run) => !isLoggedOut(run));
  const loggedOut = kept.filter(isLoggedOut).map((run) => ({ run, wayOn: { line: sayLogin(run, context.program) } }));
  const isEmpty = [waiting, going, heldBack, failed, completed, cancelled, kept].every((found) => found.length === 0);
  const troubles = given.short ? NO_TROUBLES : await engine.findTroubles();
  return {
    now,
    program: context.program,
    waiting,
    waitingTotal,
    mostShown: MOST_SHOWN,
    rows: context.stdout.isTty ? (context.stdout.rows ?? PAGE_ROWS) - 1 : PAGE_ROWS,
    agentTries: new Map(isShort ? [] : (await readTries(engine, waiting)).flatMap((tries) => [...tries])),
    answered: [...answered, ...heldBack.map((run) => ({ run, wayOn: adviseResume(run, context.program) }))],
    loggedOut,
    running,
    queued,
    failed: await Promise.all(failed.map(async (run) => ({ run, last: await readLast(engine, run) }))),
    completed,
    cancelled,
    machines: await machinesFor(engine, [...running, ...kept], context),
    usage: await readUsage(engine, [...going, ...heldBack, ...kept, ...failed, ...completed, ...cancelled]),
    ...troubles,
    restore: troubles.damage.length > 0 ? await readRestoreAdvice(context) : undefined,
    isFirstUse: isEmpty && (await engine.listRuns({ order: "newest", limit: 1 })).length === 0,
  };
}

/** The runs after a full page, so that they can be counted. */
async function listAllAfter(engine: Engine, statuses: ReadonlyArray<Run["status"]>, first: readonly Run[]) {
  const runs: Run[] = [];
  for (let page = first; page.length >= MOST_SHOWN;) {
    const after = page.at(-1)?.id;
    const filter = { statuses, order: "newest", limit: MOST_SHOWN } as const;
    page = await engine.listRuns(after === undefined ? filter : { ...filter, after });
    runs.push(...page);
  }
  return runs;
}

/** How often agents tried to answer the questions that are shown first. */
function readTries(engine: Engine, waiting: StatusView["waiting"]) {
  return Promise.all(waiting.slice(0, MOST_TRAILS).map(({ run }) => readAgentTries(engine, run)));
}

/** Answered runs that only a person can resume, each with the command for it. Loaded on use. */
async function readUntaken(runs: readonly Run[], context: Context): Promise<StatusView["answered"]> {
  if (runs.length === 0) return [];
  const { findWayOnHere } = await import("../run/takeover.ts");
  return Promise.all(runs.map(async (run) => ({ run, wayOn: await findWayOnHere(run, context) })));
}

async function readLast(engine: Engine, run: Run) {
  return (await engine.readMany(run.lastQuestionId ? [run.lastQuestionId] : []))[0];
}

/**
 * Shows the status whenever it changes: in place on a terminal, else appended.
 * Returns true when a question waits and that ends the watch, false on an interrupt.
 */
async function watchStatus(watch: StatusWatch, context: Context) {
  const signal = context.interrupt();
  const isPage = !context.json && !watch.isShort;
  const isInPlace = isPage && context.stdout.isTty && context.env["TERM"] !== "dumb" && !context.isAccessible;
  let shown: string | undefined;
  for (;;) {
    const view = await watch.read();
    const now = isInPlace || (watch.isShort && !context.json) ? watch.render(view) : keyOf(view);
    if (now !== shown) {
      if (isInPlace) context.stdout.write(`${HOME_AND_CLEAR}${now}`);
      else watch.print(view);
    }
    shown = now;
    if (watch.isOver(view)) return true;
    await pauseFor(LOOK_MS, signal, context);
    if (signal.aborted) return false;
    await watch.doDue();
  }
}

/** The part of the status that counts as a change: everything but relative times. */
function keyOf(view: StatusView) {
  const {
    waiting,
    answered,
    loggedOut,
    running,
    queued,
    failing,
    clocks,
    damage,
    unreadable,
    outages,
    failed,
    completed,
    cancelled,
  } = view;
  const runs = [
    ...[...answered, ...loggedOut].map(({ run }) => run),
    ...running,
    ...queued,
    ...failed.map(({ run }) => run),
    ...completed,
    ...cancelled,
  ];
  return JSON.stringify([
    waiting.map(({ question }) => [question.id, question.version, view.agentTries.get(question.id)]),
    runs.map(({ id, version }) => [id, version]),
    failing.map(({ key, why }) => [key, why]),
    clocks,
    damage,
    unreadable,
    outages,
  ]);
}
