import { msBetween } from "../core/instant.ts";
import { sayDuration } from "../core/text/duration.ts";
import { Refusal } from "../core/refusal.ts";
import { listMachines } from "../engine/machines.ts";
import type { Store } from "../store/store.ts";
import { CLIENTS } from "../setup/clients.ts";
import { checkChannels } from "./channel.ts";
import { checkClockJumps } from "./clock-jump.ts";
import { checkClient } from "./client.ts";
import { examine, sortFindings } from "./run-checks.ts";
import type { Check, Finding } from "./finding.ts";
import type { Patient } from "./doctor-context.ts";
import { type ServerStart, type Shaken, shakeHands } from "./mcp-handshake.ts";
import { checkMachines } from "./machine.ts";
import { measurements } from "./probe/probe-file.ts";
import { checkQueue } from "./queue.ts";
import { checkServer } from "./server.ts";
import { checkSettings } from "./settings.ts";
import { checkBackup } from "./store-backup.ts";
import { checkDamage } from "./store-damage.ts";
import { checkDisk } from "./store/disk.ts";
import { lookIntoStore } from "./store/inspect.ts";
import { checkPrivate } from "./store/file-permissions.ts";
import { release } from "./store-repair.ts";
import { checkGit, checkNode, checkTemporary } from "./system.ts";
import { checkWaitingRuns } from "./waiting-run.ts";
import { checkWorker } from "./worker.ts";

/** Looks at everything of this user's askd on this machine, and changes nothing. */
export async function checkUp(patient: Patient): Promise<Finding[]> {
  // Before the store is opened: what opens it may make files beside it.
  const before = await examine(listFileChecks(patient));
  const { look, findings } = await lookIntoStore(patient);
  try {
    const after = await examine([
      { what: "node", area: "system", look: () => Promise.resolve(checkNode(patient)) },
      { what: "git", area: "system", look: () => checkGit(patient) },
      { what: "temporary files", area: "system", look: () => checkTemporary(patient) },
      { what: "the settings", area: "system", look: () => Promise.resolve(checkSettings(patient.config)) },
      {
        what: "the channels",
        area: "channels",
        look: () => Promise.resolve(checkChannels(patient.config.values, patient)),
      },
      { what: "the store", area: "store", look: () => Promise.resolve([...findings, ...before]) },
      { what: "the server", area: "server", look: () => checkServer(patient) },
      ...listQueueChecks(look?.store, patient),
    ]);
    // Last of all: the servers that are started for it do what has fallen due.
    const agents = await examine(listClientChecks(patient));
    return sortFindings([...after, ...(agents.length > 0 ? agents : [NO_AGENT])]);
  } finally {
    await look?.close();
  }
}

const NO_AGENT: Finding = {
  ...{ code: "client_none", area: "agents", subject: "none found;", level: "off" },
  text: "see how to wire one: askd init --print",
};

function listClientChecks(patient: Patient): Check[] {
  const { rules, version, wire, around } = patient;
  const at = {
    around,
    version,
    wire,
    greet: oneByOne(shakeHands),
    timeoutMs: rules.timeoutMs,
    measured: measurements(patient.stateDir),
  };
  return CLIENTS.map((client) => ({
    ...{ what: `the settings of ${client.title}`, area: "agents", subject: client.name },
    look: () => checkClient(client, at),
  }));
}

/** Servers that start side by side slow each other down, and it is shown how long each took. */
function oneByOne(greet: (start: ServerStart) => Promise<Shaken>): (start: ServerStart) => Promise<Shaken> {
  let last: Promise<unknown> = Promise.resolve();
  return (start) => {
    const next = last.then(() => greet(start));
    last = next.catch(() => undefined); // whoever asked for it hears of it
    return next;
  };
}

function listFileChecks(patient: Patient): Check[] {
  if (patient.store.kind === "server") return [];
  return [
    { what: "who can read the store", area: "store", look: () => checkPrivate(patient) },
    { what: "the disk", area: "store", look: () => checkDisk(patient) },
    { what: "the last backup", area: "store", look: () => checkBackup(patient) },
  ];
}

function listQueueChecks(store: Store | undefined, patient: Patient): Check[] {
  if (patient.store.kind === "server") {
    return [{ what: "the queue", area: "queue", look: () => askRemote(patient) }];
  }
  if (!store) return [];
  const at = { ...patient, release: (jobs: Parameters<typeof release>[1]) => release(patient.store, jobs) };
  return [
    { what: "the queue", area: "queue", look: () => checkQueue(store, at) },
    { what: "the files of the store", area: "store", look: () => checkDamage(store) },
    { what: "the clock", area: "store", look: () => checkClockJumps(store) },
    { what: "the worker", area: "queue", look: () => checkWorker(store, patient) },
    { what: "the machines", area: "queue", look: () => checkMachines(machinesIn(store), patient.host) },
    { what: "what waits for an agent", area: "queue", look: () => checkWaitingRuns(store, patient) },
  ];
}

/** The store, as far as machines are looked at. */
function machinesIn(store: Store): Parameters<typeof checkMachines>[0] {
  return {
    listRuns: (filter) => store.listRuns(filter),
    listMachines: () => listMachines(store),
    now: () => store.now(),
  };
}

/** What a server elsewhere says of what waits; the rest is for whoever looks after it. */
async function askRemote({ openRemote }: Patient): Promise<Finding[]> {
  try {
    const remote = await openRemote();
    const [oldest] = await remote.listQuestions({ status: "pending", order: "oldest", limit: 1 });
    const count = await remote.countQuestions("pending");
    const age = oldest ? `, oldest ${sayDuration(msBetween(oldest.askedAt, await remote.now()))}` : "";
    const waiting: Finding = { code: "waiting", area: "queue", level: "ok", text: `${count} waiting${age}` };
    return [waiting, ...(await checkMachines(remote, undefined))];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fix = error.hint === undefined ? {} : { fix: error.hint };
    return [{ code: error.code, area: "queue", level: "problem", text: error.message, ...fix }];
  }
}
