import { randomBytes } from "node:crypto";
import { SYSTEM } from "../core/people/actor.ts";
import { mendJobs as writeJobs } from "../engine/trail/set-aside.ts";
import { idsFrom } from "../core/id.ts";
import { msBetween } from "../core/instant.ts";
import { formatDuration } from "../core/text/duration.ts";
import { Refusal } from "../core/refusal.ts";
import { listMachines } from "../engine/machines.ts";
import { openStore } from "../store/open-store.ts";
import type { KeptJob, Store } from "../store/store.ts";
import { clientsOf } from "../setup/clients.ts";
import { Reach } from "../engine/reach/reach.ts";
import { checkChannels } from "./channel.ts";
import { checkClockJumps, checkDamage, inspectStore } from "./store/inspect.ts";
import { checkClient } from "./client.ts";
import { runChecks, sortFindings } from "./run-checks.ts";
import type { Check, Finding } from "./finding.ts";
import type { DoctorContext, DoctorStore } from "./doctor-context.ts";
import { type ServerStart, type Handshake, shakeHands } from "./mcp-handshake.ts";
import { checkMachines, checkWorker } from "./worker.ts";
import { measurements } from "./probe/probe-file.ts";
import { checkQueue } from "./queue.ts";
import { checkServer } from "./server.ts";
import { checkSettings, checkGit, checkNode, checkTemporary } from "./system.ts";
import { checkBackup, checkDisk } from "./store/disk.ts";
import { checkRows } from "./store/damaged-row.ts";
import { checkTrail } from "./store/trail.ts";
import { checkSchema } from "./store/schema.ts";
import { checkLog } from "./store/write-ahead-log.ts";
import { StoreCopy } from "./store/store-copy.ts";
import { checkPrivate } from "./store/file-permissions.ts";
import { type MendJobs, checkTimers } from "./missing-job.ts";
import { checkWaitingRuns } from "./waiting-run.ts";
import { releaseJobs } from "../engine/jobs/release-jobs.ts";

/** Checks everything of this user's askd on this machine without changing it. */
export async function checkUp(context: DoctorContext): Promise<Finding[]> {
  // Before the store is opened: opening it may create files beside it.
  const before = await runChecks(listFileChecks(context));
  const copy = new StoreCopy(context);
  const { look, findings } = await inspectStore(context, copy);
  try {
    const after = await runChecks([
      { what: "node", area: "system", look: () => Promise.resolve(checkNode(context)) },
      { what: "git", area: "system", look: () => checkGit(context) },
      { what: "temporary files", area: "system", look: () => checkTemporary(context) },
      { what: "the settings", area: "system", look: () => Promise.resolve(checkSettings(context.config)) },
      {
        what: "the channels",
        area: "channels",
        look: async () => {
          const { rules } = context;
          const states = look?.store && (await new Reach({ store: look.store, rules }).listChannels());
          return checkChannels(context.config.values, context, states);
        },
      },
      { what: "the store", area: "store", look: () => Promise.resolve([...findings, ...before]) },
      { what: "the server", area: "server", look: () => checkServer(context) },
      ...listQueueChecks(look?.store, context, copy),
    ]);
    // Last: the servers started for it do due jobs.
    const agents = isReadOnly(context) ? [AGENTS_LEFT] : await runChecks(listClientChecks(context));
    return sortFindings([...after, ...(agents.length > 0 ? agents : [NO_AGENT])]);
  } finally {
    await look?.close();
  }
}

/** Checks the store alone, without changing it: its files, its schema, its rows and what waits in it. */
export async function checkStore(context: DoctorContext): Promise<Finding[]> {
  const before = await runChecks(listFileChecks(context));
  const copy = new StoreCopy(context);
  const { look, findings } = await inspectStore(context, copy);
  try {
    return [...before, ...findings, ...(await runChecks(listQueueChecks(look?.store, context, copy)))];
  } finally {
    await look?.close();
  }
}

const NO_AGENT: Finding = {
  code: "client_none",
  area: "agents",
  subject: "none found;",
  level: "off",
  text: "see how to wire one: askd init --print",
};

const AGENTS_LEFT: Finding = {
  code: "client_left",
  area: "agents",
  level: "off",
  text: "not checked: their servers would do what is due, and the store is only read",
};

function isReadOnly({ store }: DoctorContext) {
  return store.kind !== "server" && (store.isReadOnly ?? false);
}

function listClientChecks(context: DoctorContext): Check[] {
  const { rules, version, wire, around } = context;
  const at = {
    around,
    version,
    wire,
    greet: oneByOne(shakeHands),
    timeoutMs: rules.timeoutMs,
    measured: measurements(context.stateDir),
  };
  return clientsOf(context.agents).map((client) => ({
    what: `the settings of ${client.title}`,
    area: "agents",
    subject: client.name,
    look: () => checkClient(client, at),
  }));
}

/** Servers that start concurrently slow each other down, and the report shows how long each took. */
function oneByOne(greet: (start: ServerStart) => Promise<Handshake>): (start: ServerStart) => Promise<Handshake> {
  let last: Promise<unknown> = Promise.resolve();
  return (start) => {
    const next = last.then(() => greet(start));
    last = next.catch(() => undefined); // its caller gets the error
    return next;
  };
}

function listFileChecks(context: DoctorContext): Check[] {
  if (context.store.kind === "server") return [];
  return [
    { what: "who can read the store", area: "store", look: () => checkPrivate(context) },
    { what: "the disk", area: "store", look: () => checkDisk(context) },
    { what: "the log", area: "store", look: () => checkLog(context) },
    { what: "the last backup", area: "store", look: () => checkBackup(context) },
  ];
}

function listQueueChecks(store: Store | undefined, context: DoctorContext, copy: StoreCopy): Check[] {
  if (context.store.kind === "server") {
    return [{ what: "the queue", area: "queue", look: () => askRemote(context) }];
  }
  if (!store) return [];
  const at = {
    ...context,
    release: (jobs: Parameters<typeof releaseStuckJobs>[1]) => releaseStuckJobs(context.store, jobs),
  };
  return [
    { what: "the queue", area: "queue", look: () => checkQueue(store, at) },
    {
      what: "the timers",
      area: "queue",
      look: () => checkTimers(store, context.rules, (jobs) => mendJobs(context.store, jobs)),
    },
    { what: "the schema", area: "store", look: () => checkSchema(store, context.store, copy) },
    { what: "the rows", area: "store", look: () => checkContents(store, context, copy) },
    { what: "the clock", area: "store", look: () => checkClockJumps(store) },
    { what: "the worker", area: "queue", look: () => checkWorker(store, context) },
    { what: "the machines", area: "queue", look: () => checkMachines(machinesIn(store), context.host) },
    { what: "what waits for an agent", area: "queue", look: () => checkWaitingRuns(store, context) },
  ];
}

/** Checks files, rows and trail; each is worth a look only if what is below it can be read. */
async function checkContents(store: Store, context: DoctorContext, copy: StoreCopy): Promise<Finding[]> {
  const { store: place, rules, nowMs } = context;
  const ways = { place, rules, ids: idsFrom(nowMs, randomBytes), copy, open: () => openOwn(place) };
  const damaged = [...(await checkDamage(store, place)), ...(await checkRows(store, ways))];
  return damaged.length > 0 ? damaged : checkTrail(store, ways);
}

/** The part of the store that the machine check reads. */
function machinesIn(store: Store): Parameters<typeof checkMachines>[0] {
  return {
    listRuns: (filter) => store.listRuns(filter),
    listMachines: () => listMachines(store),
    now: () => store.now(),
  };
}

/** Reports what waits on a remote server; its other checks run there. */
async function askRemote({ openRemote }: DoctorContext): Promise<Finding[]> {
  try {
    const remote = await openRemote();
    const [oldest] = await remote.listQuestions({ status: "pending", order: "oldest", limit: 1 });
    const count = await remote.countQuestions("pending");
    const age = oldest ? `, oldest ${formatDuration(msBetween(oldest.askedAt, await remote.now()))}` : "";
    const waiting: Finding = { code: "waiting", area: "queue", level: "ok", text: `${count} waiting${age}` };
    return [waiting, ...(await checkMachines(remote, undefined))];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fix = error.hint === undefined ? {} : { fix: error.hint };
    return [{ code: error.code, area: "queue", level: "problem", text: error.message, ...fix }];
  }
}

/** Makes stuck jobs due now. */
async function releaseStuckJobs(at: DoctorStore, jobs: readonly KeptJob[]): Promise<void> {
  const store = await openOwn(at);
  try {
    await releaseJobs(store, jobs);
  } finally {
    await store.close();
  }
}

/** Schedules missing jobs and drops useless ones. */
async function mendJobs(at: DoctorStore, jobs: Parameters<MendJobs>[0]): Promise<void> {
  const store = await openOwn(at);
  try {
    await writeJobs(store, jobs, SYSTEM);
  } finally {
    await store.close();
  }
}

/** Opens the store of this machine. */
async function openOwn(at: DoctorStore): Promise<Store> {
  if (at.kind === "server") throw new Error("the store is behind a server; do it there");
  return openStore(at);
}
