import { carryHere } from "../../../agents/elsewhere.ts";
import type { WayOn } from "../../../agents/runner/takeover.ts";
import { StatusesQuery } from "../../../core/api/run-route.ts";
import { MOST_LISTED } from "../../../core/api/route.ts";
import type { Instant } from "../../../core/instant.ts";
import { type AwayMachine, findAway, machineName } from "../../../core/run/machine.ts";
import { requireMovable } from "../../../core/run/move-run.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, RunStatus, findAgentSession, hasEnded } from "../../../core/run/run.ts";
import { USAGE_FIELDS, viewUsage } from "../../../core/run/usage.ts";
import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { noVerb, requireOne } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { readLimit } from "../inspect/list.ts";
import { awayLines, machinesFor, sayAway } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { readFiles } from "./run-starts.ts";
import { renderRuns } from "./runs-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { SHOW_FIELDS, showRun } from "../inspect/show.ts";
import { getRun } from "../../target.ts";
import { findWayOnHere } from "./takeover.ts";
import { textWidth } from "../../terminal/terminal.ts";
import { readUsage } from "../../run-usage.ts";
import { UNTAKEN } from "../../wording.ts";

/** How many runs are looked at for those that the flags want. */
const MOST_SEARCHED = 10_000;

const flags = {
  status: { type: "string", value: "status", about: "list: only in these states, between commas" },
  agent: { type: "string", value: "agent", about: "list: only of this agent" },
  label: { type: "string", multiple: true, value: "label", about: "list: only with this label; can be repeated" },
  limit: { type: "string", value: "count", about: "list: at most this many (30)" },
  elsewhere: { type: "boolean", about: "resume: on this machine, where its own was not heard of for a minute" },
  reason: { type: "string", short: "m", value: "text", about: "cancel: why; people see it" },
} as const satisfies Flags;
type Given = Values<typeof flags>;

const LIST_FIELDS: readonly string[] = [...RUN_FIELDS, ...USAGE_FIELDS, "question"];

export const command: Command<typeof flags> = {
  usage: "runs list|show|resume|cancel [<run>]",
  isLong: () => true,
  flags,
  fields: [...new Set([...LIST_FIELDS, ...SHOW_FIELDS, "worker", "files", "starts"])],
  examples: [
    "askd runs list --status awaiting_input",
    "askd runs show 42",
    "askd runs resume 42 --elsewhere",
    'askd runs cancel 42 -m "not needed"',
  ],
  async run(args, context) {
    const [what, ...rest] = args.positionals;
    const engine = await context.engine();
    if (what === undefined || (what === "list" && rest.length === 0)) return list(engine, args.flags, context);
    const verb = Object.hasOwn(VERBS, what) ? VERBS[what] : undefined;
    if (!verb) throw noVerb(args.positionals, command.usage);
    const run = await getRun(engine, requireOne(rest, command.usage));
    return verb(run, { engine, given: args.flags, context });
  },
};

interface At {
  engine: Engine;
  given: Given;
  context: Context;
}

const VERBS: Readonly<Record<string, (run: Run, at: At) => Promise<number>>> = { show, resume, cancel };

async function list(engine: Engine, given: Given, context: Context): Promise<number> {
  const runs = await find(engine, given);
  const usage = await readUsage(engine, runs);
  const rows = await Promise.all(
    runs.map(async (run) => ({
      run,
      usage: usage.get(run.id),
      question: run.pendingId && (await engine.read(run.pendingId)).question.title,
    })),
  );
  const machines = await machinesFor(engine, runs, context);
  const view = { now: machines.now, width: textWidth(context.stdout.columns), machines, runs: rows };
  printResult(context, LIST_FIELDS, {
    page: () => renderRuns(view, context.style),
    json: () =>
      rows.map(({ run, usage: used, question }) => ({
        ...{ ...viewRun(run, machines), ...viewUsage(used), question: question ?? null },
      })),
  });
  return 0;
}

/** The store knows states; agents and labels are looked at here. */
async function find(engine: Engine, { status, agent, label = [], limit }: Given): Promise<Run[]> {
  const most = readLimit(limit);
  const statuses = status === undefined ? undefined : readStatuses(status);
  const isMeant = (run: Run): boolean =>
    (agent === undefined || run.agent === agent) && label.every((each) => run.labels.includes(each));
  const found: Run[] = [];
  let after: Run["id"] | undefined;
  for (let seen = 0; found.length < most && seen < MOST_SEARCHED; seen += MOST_LISTED) {
    const filter = { ...(statuses && { statuses }), ...(after && { after }) };
    const page = await engine.listRuns({ ...filter, order: "newest", limit: MOST_LISTED });
    found.push(...page.filter(isMeant));
    after = page.at(-1)?.id;
    if (page.length < MOST_LISTED) break;
  }
  return found.slice(0, most);
}

function readStatuses(text: string): RunStatus[] {
  const parsed = StatusesQuery.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `There is no state "${oneLine(text)}"`, {
    hint: `Use ${RunStatus.options.join(", ")}`,
  });
}

async function show(run: Run, { engine, context }: At): Promise<number> {
  await showRun(run, engine, context, await readFiles(run, context));
  return 0;
}

async function resume(run: Run, { engine, given, context }: At): Promise<number> {
  if (given.elsewhere) return resumeElsewhere(run, { engine, context });
  await requireHeardOf(run, { engine, context });
  const resumed = await engine.resumeRun(run.id, await whoTypes(engine, context));
  const machines = await machinesFor(engine, [resumed], context);
  const away = findAway(resumed, machines);
  const wayOn = await findWayOnHere(resumed, context);
  const fields = { resume_command: wayOn?.command ?? null };
  const lines = sayResumed(resumed, { away, wayOn, now: machines.now }, context.program);
  await done(resumed, lines, { engine, context, fields });
  return 0;
}

/** Refuses a run that only its machine could bring on, where that is away, with the ways out. */
async function requireHeardOf(run: Run, { engine, context }: Omit<At, "given">): Promise<void> {
  const machines = await machinesFor(engine, [run], context);
  const away = run.status === "resuming" ? undefined : findAway(run, machines);
  if (!away) return;
  const [, ...ways] = awayLines(run, away, machines.now, context.program);
  throw new Refusal("not_pending", `Run #${run.number} is ${run.status}, and ${sayAway(away, machines.now)}`, {
    hint: ways.join("\n"),
  });
}

/** What becomes of a run that was resumed: who has to do what, where askd cannot start it. */
function sayResumed(
  run: Run,
  { away, wayOn, now }: { away: AwayMachine | undefined; wayOn: WayOn | undefined; now: Instant },
  program: string,
): string[] {
  if (wayOn) return [`is ${UNTAKEN}; askd did not start it`, wayOn.line];
  if (!away) return [`goes on; it is ${run.status}`];
  const [, ...ways] = awayLines(run, away, now, program);
  return [`is to go on, and ${sayAway(away, now)}`, ...ways];
}

/** Makes this machine the run's own, where there is enough of the run to go on with. */
async function resumeElsewhere(run: Run, { engine, context }: Omit<At, "given">): Promise<number> {
  const { store, stateDir } = context.place;
  if (store.kind === "server") {
    throw new Refusal("bad_input", `${store.source} names a server; agents are started where the store can be opened`, {
      hint: `Do it on a machine with the store: askd runs resume ${run.number} --elsewhere --store …`,
    });
  }
  const host = await context.keepHost();
  const machines = await machinesFor(engine, [], context);
  requireMovable(run, host, { known: await engine.listMachines(), others: [], now: machines.now });
  const { has } = await carryHere(run, { stateDir, env: context.env });
  const moved = await engine.resumeRun(run.id, await whoTypes(engine, context), { host });
  const waits =
    moved.pendingId === undefined ? `goes on here; it is ${moved.status}` : "goes on here once it is answered";
  const isLeftBehind = findAgentSession(run) !== undefined && has !== "session";
  const anew = isLeftBehind ? ["Its session is not here: its agent begins anew, told all that is known"] : [];
  await done(moved, [`${waits} (it was on ${oneLine(machineName(run.host))})`, ...anew], { engine, context });
  return 0;
}

async function cancel(run: Run, { engine, given, context }: At): Promise<number> {
  if (hasEnded(run)) {
    throw new Refusal("run_ended", `Run #${run.number} is over already (${run.status})`, {
      hint: `See it with: askd show ${run.number}`,
    });
  }
  const cancelled = await engine.cancelRun(run.id, await whoTypes(engine, context), given.reason);
  const asked = run.pendingId === undefined ? "" : ", and so is its question";
  await done(cancelled, [`is cancelled${asked}`], { engine, context });
  return 0;
}

async function done(
  run: Run,
  what: readonly string[],
  { engine, context, fields = {} }: Omit<At, "given"> & { fields?: object },
): Promise<void> {
  const machines = await machinesFor(engine, [run], context);
  printResult(context, [...RUN_FIELDS, ...Object.keys(fields)], {
    page: () => (context.isQuiet ? "" : `✓ #${run.number} ${oneLine(run.name)} ${what.join("\n  ")}\n`),
    json: () => ({ ...viewRun(run, machines), ...fields }),
  });
  await afterChange(run, engine, context);
  await engine.doDue(); // what the change made due does not wait for the next command
}
