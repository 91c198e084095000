import { prepareSessionCopy } from "../../../agents/runner/session-copy.ts";
import type { ResumeAdvice } from "../../../agents/runner/takeover.ts";
import { StatusesQuery } from "../../../core/api/run-route.ts";
import { MOST_LISTED } from "../../../core/api/route.ts";
import type { Instant } from "../../../core/instant.ts";
import { type AwayMachine, findAwayMachine, machineName, type KnownMachines } from "../../../core/run/machine.ts";
import { requireMovable } from "../../../core/run/move-run.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, RunStatus, findAgentSession, hasEnded } from "../../../core/run/run.ts";
import { USAGE_FIELDS, viewUsage, type UsageRow } from "../../../core/run/usage.ts";
import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { hasErrorCode } from "../../../core/error-code.ts";
import { epochFile, listEpochs, runDirOf } from "../../../agents/runner/run-files.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { unknownVerb, requireOneArgument } from "../../arguments.ts";
import { type Command, isListOrShow } from "../../command.ts";
import type { Context, OpenedEngine } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { awayLines, machinesFor, sayAway, sayState } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../find-target.ts";
import { textWidth, type Style, cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { readUsage } from "../../run-usage.ts";
import { UNTAKEN, refOf, sayUsage } from "../../view/run-text.ts";
import { sayAgo } from "../../view/relative-time.ts";
import { readLimit } from "../inspect/list.ts";
import { SHOW_FIELDS, showRun } from "../inspect/show.ts";
import type { ShowView } from "../inspect/show-view.ts";
import { findWayOnHere } from "./takeover.ts";
import { moveWorkflowHere } from "./workflow-elsewhere.ts";

/** The most runs that one search reads. */
const MOST_SEARCHED = 10_000;

const flags = {
  status: { type: "string", value: "status", about: "list: only runs with these statuses, separated by commas" },
  agent: { type: "string", value: "agent", about: "list: only runs of this agent" },
  label: { type: "string", multiple: true, value: "label", about: "list: only runs with this label; can be repeated" },
  limit: { type: "string", value: "count", about: "list: show at most this many (30)" },
  elsewhere: { type: "boolean", about: "resume: move it to this machine if its own has been away for a minute" },
  reason: { type: "string", short: "m", value: "text", about: "cancel: the reason, which people see" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

const LIST_FIELDS: readonly string[] = [...RUN_FIELDS, ...USAGE_FIELDS, "question"];

const LEAST_CELLS = 20;

/** The data of `askd runs list`: runs, newest first, with their pending questions. */
interface RunsView {
  now: Instant;
  width: number;
  machines: KnownMachines;
  runs: ReadonlyArray<{ run: Run; usage: UsageRow | undefined; question: string | undefined }>;
}

/** One start of the agent and its exit code, from its files. */
interface Started {
  epoch: number;
  exitCode: number | null;
}

export const command: Command<typeof flags> = {
  usage: "runs list|show|resume|cancel|follow|unfollow [<run>]",
  isLong: () => true,
  isLooking: isListOrShow,
  flags,
  fields: [...new Set([...LIST_FIELDS, ...SHOW_FIELDS, "worker", "files", "starts"])],
  examples: [
    "askd runs list --status awaiting_input",
    "askd runs show 42",
    "askd runs resume 42 --elsewhere",
    'askd runs cancel 42 -m "not needed"',
    "askd runs follow 42",
  ],
  async run(args, context) {
    const [what, ...rest] = args.positionals;
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    if (what === undefined || (what === "list" && rest.length === 0)) return list(engine, args.flags, context);
    const verb = Object.hasOwn(VERBS, what) ? VERBS[what] : undefined;
    if (!verb) throw unknownVerb(args.positionals, command.usage);
    const run = await getRun(engine, requireOneArgument(rest, command.usage));
    return verb(run, { engine, given: args.flags, context });
  },
};

interface VerbContext {
  engine: OpenedEngine;
  given: FlagValues;
  context: Context;
}

const VERBS: Readonly<Record<string, (run: Run, at: VerbContext) => Promise<number>>> = {
  show,
  resume,
  cancel,
  follow: (run, at) => follow(run, true, at),
  unfollow: (run, at) => follow(run, false, at),
};

async function list(engine: Engine, given: FlagValues, context: Context) {
  const runs = await find(engine, given);
  const usage = await readUsage(engine, runs);
  const pending = await engine.readMany(runs.flatMap(({ pendingId }) => pendingId ?? []));
  const titles = new Map(pending.map(({ question }) => [question.id, question.title]));
  const rows = runs.map((run) => ({
    run,
    usage: usage.get(run.id),
    question: run.pendingId && titles.get(run.pendingId),
  }));
  const machines = await machinesFor(engine, runs, context);
  const view = { now: machines.now, width: textWidth(context.stdout.columns), machines, runs: rows };
  printResult(context, LIST_FIELDS, {
    page: () => renderRuns(view, context.style),
    json: () =>
      rows.map(({ run, usage: used, question }) => ({
        ...viewRun(run, machines),
        ...viewUsage(used),
        question: question ?? null,
      })),
  });
  return 0;
}

/** Searches runs. The store filters by status; agents and labels are filtered here. */
async function find(engine: Engine, { status, agent, label = [], limit }: FlagValues) {
  const most = readLimit(limit);
  const statuses = status === undefined ? undefined : readStatuses(status);
  const isMeant = (run: Run) =>
    (agent === undefined || run.agent === agent) && label.every((each) => run.labels.includes(each));
  const found: Run[] = [];
  let after: Run["id"] | undefined;
  for (let seen = 0; found.length < most && seen < MOST_SEARCHED; seen += MOST_LISTED) {
    const page = await engine.listRuns({ statuses, after, order: "newest", limit: MOST_LISTED });
    found.push(...page.filter(isMeant));
    after = page.at(-1)?.id;
    if (page.length < MOST_LISTED) break;
  }
  return found.slice(0, most);
}

function readStatuses(text: string) {
  const parsed = StatusesQuery.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `There is no state "${oneLine(text)}"`, {
    hint: `Use ${RunStatus.options.join(", ")}`,
  });
}

async function show(run: Run, { engine, context }: VerbContext) {
  await showRun(run, engine, context, await readRunStarts(run, context));
  return 0;
}

async function resume(run: Run, { engine, given, context }: VerbContext) {
  if (given.elsewhere) return resumeElsewhere(run, { engine, context });
  await requireHeardOf(run, { engine, context });
  const resumed = await engine.resumeRun(run.id, await whoTypes(engine, context));
  const machines = await machinesFor(engine, [resumed], context);
  const away = findAwayMachine(resumed, machines);
  const wayOn = await findWayOnHere(resumed, context);
  const fields = { resume_command: wayOn?.command ?? null };
  const lines = sayResumed(resumed, { away, wayOn, now: machines.now }, context.program);
  await done(resumed, lines, { engine, context, fields });
  return 0;
}

/** Refuses to resume a run whose machine is away, with the ways to continue. */
async function requireHeardOf(run: Run, { engine, context }: Omit<VerbContext, "given">) {
  const machines = await machinesFor(engine, [run], context);
  const away = run.status === "resuming" ? undefined : findAwayMachine(run, machines);
  if (!away) return;
  const [, ...ways] = awayLines(run, away, machines.now, context.program);
  throw new Refusal("not_pending", `Run #${run.number} is ${run.status}, and ${sayAway(away, machines.now)}`, {
    hint: ways.join("\n"),
  });
}

/** The result of resuming a run, and the next step for a person if askd cannot start it. */
function sayResumed(
  run: Run,
  { away, wayOn, now }: { away: AwayMachine | undefined; wayOn: ResumeAdvice | undefined; now: Instant },
  program: string,
) {
  if (wayOn) return [`is ${UNTAKEN}; askd did not start it`, wayOn.line];
  if (!away) return [`is ${run.status}`];
  const [, ...ways] = awayLines(run, away, now, program);
  return [`will resume, but ${sayAway(away, now)}`, ...ways];
}

/** Moves a run to this machine, if this machine has enough of it to continue. */
async function resumeElsewhere(run: Run, { engine, context }: Omit<VerbContext, "given">) {
  const { store, stateDir } = context.place;
  if (store.kind === "server") {
    throw new Refusal("bad_input", `${store.source} names a server; agents start on a machine with the store`, {
      hint: `Run this on a machine with the store: askd runs resume ${run.number} --elsewhere --store …`,
    });
  }
  if (run.workflow) {
    const { run: moved, lines } = await moveWorkflowHere(run, engine, context);
    await done(moved, lines, { engine, context });
    return 0;
  }
  const host = await context.keepHost();
  const machines = await machinesFor(engine, [], context);
  requireMovable(run, host, { known: await engine.listMachines(), others: [], now: machines.now });
  const { has } = await prepareSessionCopy(run, { agents: await context.agents(), stateDir, env: context.env });
  const moved = await engine.resumeRun(run.id, await whoTypes(engine, context), { host });
  const waits =
    moved.pendingId === undefined
      ? `continues on this machine; it is ${moved.status}`
      : "continues on this machine once it is answered";
  const isLeftBehind = findAgentSession(run) !== undefined && has !== "session";
  const anew = isLeftBehind
    ? ["Its session is not on this machine: the agent starts a new one with everything known so far"]
    : [];
  await done(moved, [`${waits} (it was on ${oneLine(machineName(run.host))})`, ...anew], { engine, context });
  return 0;
}

async function cancel(run: Run, { engine, given, context }: VerbContext) {
  if (hasEnded(run)) {
    throw new Refusal("run_ended", `Run #${run.number} has already ended (${run.status})`, {
      hint: `See it with: askd show ${run.number}`,
    });
  }
  const cancelled = await engine.cancelRun(run.id, await whoTypes(engine, context), given.reason);
  const asked = run.pendingId === undefined ? "" : ", and so is its question";
  await done(cancelled, [`is cancelled${asked}`], { engine, context });
  return 0;
}

async function follow(run: Run, isFollowing: boolean, { engine, context }: VerbContext) {
  const followed = await engine.followRun(run.id, await whoTypes(engine, context), { isFollowing });
  const said = isFollowing ? await sayFollowed(engine, context) : "is no longer followed by you";
  await done(followed, [said], { engine, context });
  return 0;
}

/** News of a run need a channel, as questions do. */
async function sayFollowed(engine: Engine, { program }: Context) {
  if ((await engine.listChannels()).length > 0) return "is followed: you hear how it ends";
  return `is followed; no channel is configured, so nobody is told yet. Set one up: ${program} setup <channel>`;
}

async function done(
  run: Run,
  what: readonly string[],
  { engine, context, fields = {} }: Omit<VerbContext, "given"> & { fields?: object },
) {
  const machines = await machinesFor(engine, [run], context);
  printResult(context, [...RUN_FIELDS, ...Object.keys(fields)], {
    page: () => (context.isQuiet ? "" : `✓ #${run.number} ${oneLine(run.name)} ${what.join("\n  ")}\n`),
    json: () => ({ ...viewRun(run, machines), ...fields }),
  });
  await afterChange({ run }, engine, context);
  await engine.doDue(); // run due jobs now, not with the next command
}

/** The output of `askd runs list`: a line per run, and one for its question. */
function renderRuns({ now, width, machines, runs }: RunsView, style: Style) {
  if (runs.length === 0) return "No runs.\n";
  const rows = runs.map(({ run, usage }) => [
    refOf(run),
    sayState(run, undefined, machines),
    oneLine(run.agent),
    sayAgo(run.startedAt ?? run.createdAt, now),
    sayUsage(usage) ?? "",
    oneLine(run.name),
  ]);
  const columns = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = runs.flatMap(({ question }, index) => {
    const row = rows[index] ?? [];
    const left = columns
      .flatMap((cells, column) => (cells === 0 ? [] : [padCells(row[column] ?? "", cells)]))
      .join("  ");
    const line = `${left}  ${cutCells(row[5] ?? "", Math.max(LEAST_CELLS, width - cellsOf(left) - 2))}`;
    if (question === undefined) return [line];
    const indent = " ".repeat((columns[0] ?? 0) + 2);
    const room = Math.max(LEAST_CELLS, width - indent.length - 3);
    return [style.yellow(line), `${indent}❓ ${cutCells(oneLine(question), room)}`];
  });
  return `${lines.join("\n")}\n`;
}

/** Reads what only the run's machine knows: its files, the starts of its agent, its worker. */
async function readRunStarts(run: Run, context: Context): Promise<{ lines: ShowView["more"]; fields: object }> {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const starts = run.host === (await context.host()) ? await readStarts(runDir) : undefined;
  const said = (starts ?? []).map(({ epoch, exitCode }) =>
    exitCode === null ? String(epoch) : `${epoch} (exit code ${exitCode})`,
  );
  return {
    lines: [
      ...(run.worker ? [["Worker", run.worker] as const] : []),
      ...(starts ? [["Files", runDir] as const] : [["Files", `on ${machineName(run.host)}`] as const]),
      ...(said.length > 0 ? [["Starts", said.join(", ")] as const] : []),
    ],
    fields: { worker: run.worker ?? null, files: starts ? runDir : null, starts: starts ?? [] },
  };
}

/** The starts of the agent; undefined if this machine has no files of the run. */
async function readStarts(runDir: string): Promise<Started[] | undefined> {
  try {
    const epochs = await listEpochs(runDir, "out");
    return await Promise.all(epochs.map(async (epoch) => ({ epoch, exitCode: await readExit(runDir, epoch) })));
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The exit code of the agent's process; null while it runs, or if it is unknown. */
async function readExit(runDir: string, epoch: number) {
  const text = await findFileText(epochFile(runDir, epoch, "exit"));
  const code = Number.parseInt(text ?? "", 10);
  return Number.isNaN(code) ? null : code;
}
