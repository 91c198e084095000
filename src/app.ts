import { randomBytes as systemRandom, randomUUID } from "node:crypto";
import { hostname, uptime } from "node:os";
import { readBootId } from "./agents/process/boot-id.ts";
import type { AnchorSettings } from "./config/anchor.ts";
import { type Ids, type WorkerId, idsFrom, pooled } from "./core/id.ts";
import { instant } from "./core/instant.ts";
import type { Job } from "./core/run/job.ts";
import { Refusal } from "./core/refusal.ts";
import type { Rules } from "./core/rules.ts";
import type { Run } from "./core/run/run.ts";
import type { AnchorTarget } from "./engine/jobs/anchor-target.ts";
import { StoreClock } from "./engine/store-clock.ts";
import type { Engine } from "./engine/engine.ts";
import { isFailureNews, isRare, sayWhy } from "./engine/jobs/job-retry.ts";
import { jobHandlers } from "./engine/jobs/job-handlers.ts";
import { LocalEngine } from "./engine/local-engine.ts";
import type { AddressOptions } from "./engine/outbound/public-address.ts";
import type { Patience } from "./engine/remote/remote-call.ts";
import type { Work, WorkerDeps } from "./engine/jobs/worker.ts";
import type { ServeOptions } from "./server/server.ts";
import type { Store } from "./store/store.ts";

declare const ASKD_VERSION: string | undefined; // set when the program is built
const VERSION = typeof ASKD_VERSION === "string" ? ASKD_VERSION : "0.0.0";

type OwnStore = { kind: "sqlite"; file: string } | { kind: "postgres"; url: string };
type OtherServer = { kind: "server"; url: string; token: string | undefined; runtimeDir: string; source: string };

export interface AppOptions {
  store: OwnStore | OtherServer;
  rules: Rules;
  /** Set where this process starts the agents of this host and follows them. */
  runs?: RunsOptions;
  /** The directory with the lasting id of this machine. */
  machineDir?: string;
  /** Where every seal of the trail is written outside the store. */
  anchor?: AnchorSettings | undefined;
  /** Hears of every call to a server: what, with which outcome, and how long it took. */
  onCall?: (line: string) => void;
  /** Rides out a restart of the server. */
  patience?: Patience | undefined;
}

/** Where agents are started from. */
export interface RunsOptions {
  stateDir: string;
  /** How to start askd itself. */
  askd: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Hears what is worth a line in a log: of which run, and what. */
  note: (run: string, text: string) => void;
  /** Hears how far the work with an agent has come; proofs end the process there. */
  onStep?: (step: string) => void;
}

export interface ServerOptions extends AppOptions {
  runtimeDir: string;
  /** The name of this user, for whom programs on this machine act. */
  user: string;
  writeLog: (line: string) => void;
  /** How people are told, as it is configured; nothing secret is in it. */
  channels?: ReadonlyArray<{ name: string; settings: ReadonlyArray<readonly [string, string]> }>;
  /** Write down every request too. */
  isVerbose: boolean;
  /** Where the variables of OpenTelemetry are looked up. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Opens the store and puts an engine on it, or reaches the engine of a server. */
export async function openEngine(options: AppOptions): Promise<Engine> {
  const { store, rules, runs, machineDir, anchor, onCall, patience } = options;
  if (store.kind === "server") return openRemote(store, { onCall, patience });
  const opened = await openStore(store);
  return engineFor(opened, { rules, anchor, ...(machineDir !== undefined && { machineDir }) }, runs);
}

/** The engine on a store, with agents to start where that is wanted. */
async function engineFor(store: Store, options: EngineOptions, runs: RunsOptions | undefined): Promise<LocalEngine> {
  if (!runs) return engineOn(store, options);
  const { agents } = await import("./agents/agents.ts");
  const { Runner } = await import("./agents/runner/runner.ts");
  const { keepMachine } = await import("./agents/runner/machine-id.ts");
  const host = keepMachine(runs.stateDir);
  const ids = options.ids ?? idsFrom(Date.now, pooled(random));
  const worker = ids.worker();
  const runner = new Runner({
    ...{ ...runs, worker, agents, host, rules: options.rules, liveWindowMs: options.rules.liveWindowMs },
    engine: () => engine,
    version: VERSION,
    note: (run, text) => runs.note(`#${run.number}`, text),
    onFailure: (run, error) => runs.note(`#${run.number}`, error instanceof Error ? error.message : String(error)),
  });
  const onFailure = options.onFailure ?? ((job, error) => runs.note(job.key, sayFailure(job, error)));
  const onOutage =
    options.onOutage ?? ((error, times) => void (isRare(times) && runs.note("worker", sayOutage(error))));
  const more = { ids, worker, runner, host, onFailure: onlyNews(onFailure), onOutage };
  const engine: LocalEngine = engineOn(store, { ...options, ...more });
  return engine;
}

function sayOutage(error: unknown): string {
  return `waits for the store: ${sayWhy(error)}`;
}

/** What fails every few seconds for hours need not be told every time. */
function onlyNews(onFailure: WorkerDeps["onFailure"]): WorkerDeps["onFailure"] {
  return (job, error) => void (isFailureNews(job, error) && onFailure(job, error));
}

function sayFailure({ tries }: Job, error: unknown): string {
  return `failed ${tries === 0 ? "once" : `${tries + 1} times`}: ${sayWhy(error)}; it is tried again`;
}

/** Serves a store over HTTP, and leaves word of it for this user's programs. */
export async function openServer(options: ServerOptions, request: ServeOptions) {
  if (options.store.kind === "server") {
    throw new Refusal("bad_input", `${options.store.source} names a server; there is no store here to serve`, {
      hint: "Name a store with --store",
    });
  }
  const { serveStore } = await import("./server/serve-store.ts");
  const { jsonLog, sayError } = await import("./server/log.ts");
  const least = options.isVerbose ? "debug" : "info";
  const log = jsonLog(options.writeLog, { now: () => instant(Date.now()), least });
  const store = await openStore(options.store);
  const onFailure: WorkerDeps["onFailure"] = (job, error) =>
    log("warn", "job_failed", { job: job.key, run: job.runId, tries: job.tries + 1, message: sayError(error).message });
  const onOutage: EngineOptions["onOutage"] = (error, times) =>
    void (isRare(times) && log("warn", "worker_waits", { times, message: sayError(error).message }));
  const engine = await engineFor(
    store,
    { rules: options.rules, anchor: options.anchor, onFailure, onOutage },
    options.runs,
  );
  const { readTarget } = await import("./server/telemetry/otlp.ts");
  const traces = readTarget(options.env);
  const { findWork, takeoverHere } = await import("./agents/runner/local-run.ts");
  const { keepMachine } = await import("./agents/runner/machine-id.ts");
  const { findLog } = await import("./agents/runner/run-log.ts");
  const { processHolder } = await import("./agents/process/process-holder.ts");
  const stateDir = options.runs?.stateDir;
  const host = stateDir === undefined ? hostname() : keepMachine(stateDir);
  const atHand = {
    work: (run: Run) => findWork(run, host),
    takeover: (run: Run) => takeoverHere(run, { host, env: options.env }),
    ...(stateDir !== undefined && { log: (run: Run, from?: string) => findLog(stateDir, run, from) }),
  };
  const holders = await processHolder();
  const { runsOfCaller } = await import("./agents/process/caller-process.ts");
  const deps = { ...options, store, engine, log, version: VERSION, host, holders, atHand, runsOfCaller };
  return serveStore({ ...deps, ...(traces && { traces }) }, request);
}

/** Where the server of this user is, as it said itself. */
export async function findServer(runtimeDir: string): Promise<string | undefined> {
  return (await import("./server/local-token.ts")).findAddress(runtimeDir);
}

async function openRemote(
  { url, token, runtimeDir }: OtherServer,
  { onCall, patience }: Pick<AppOptions, "onCall" | "patience">,
): Promise<Engine> {
  const { RemoteEngine } = await import("./engine/remote/remote-engine.ts");
  const text = token ?? (await readOwnToken(url, runtimeDir));
  const { tellingFetch } = await import("./engine/remote/remote-call.ts");
  return new RemoteEngine({
    ...{ url, tokenFor: () => text, newKey: randomUUID },
    ...(onCall && { fetch: tellingFetch(onCall) }),
    ...(patience && { patience }),
  });
}

/** The token file is for the server on this machine; no other is ever shown what it holds. */
async function readOwnToken(url: string, runtimeDir: string): Promise<string> {
  const { readPrivate } = await import("./server/private-file.ts");
  const { serverFiles } = await import("./server/local-token.ts");
  const isHere = new URL(url).protocol === "http:";
  const text = isHere ? await readPrivate(serverFiles(runtimeDir).token) : undefined;
  if (text !== undefined) return text;
  throw new Refusal("sign_in", `There is no token for ${url}`, {
    hint: "Set ASKD_TOKEN; make one where the server is with: askd token create",
  });
}

export interface EngineOptions {
  rules: Rules;
  /** This machine's clock, its real time and source of randomness; tests bring their own. */
  nowMs?: () => number;
  uptimeMs?: () => number;
  randomBytes?: (count: number) => Uint8Array;
  ids?: Ids;
  /** Hears that no job can be had from the store. */
  onOutage?: NonNullable<WorkerDeps["onOutage"]>;
  /** Hears of jobs that failed. They keep how often that was and are tried again. */
  onFailure?: WorkerDeps["onFailure"];
  worker?: WorkerId;
  /** The lasting id of this machine, where its agents are started. */
  host?: string;
  /** The directory with that id, where no agents are started. */
  machineDir?: string;
  /** Where every seal of the trail is written outside the store. */
  anchor?: AnchorSettings | undefined;
  /** Starts and follows agents; left in peace when the engine stops. */
  runner?: RunsAgents;
}

interface RunsAgents {
  agents: readonly string[];
  count: number;
  handlers(): WorkerDeps["handlers"];
  begin(work: Pick<Work, "store" | "decider">): Promise<void>;
  leave(): Promise<void>;
}

/** Puts an engine on a store, with everything that it needs to do what falls due. */
export function engineOn(store: Store, options: EngineOptions): LocalEngine {
  const { rules, nowMs = Date.now, randomBytes = pooled(random) } = options;
  const clock = new StoreClock(nowMs, () => store.now());
  const { runner, anchor, ids = idsFrom(nowMs, randomBytes) } = options;
  const post = { allowLoopback: rules.callbackLoopback };
  const anchors = anchor && (() => findAnchorTargets(anchor, post));
  let worker = options.worker;
  return new LocalEngine({
    store,
    ids,
    rules,
    randomBytes,
    now: () => clock.now(),
    checkedNow: () => clock.checked(),
    machine: {
      id: () => machineOf(options),
      boot: readBootId,
      uptimeMs: options.uptimeMs ?? options.nowMs ?? realTimeMs,
    },
    worker: {
      id: () => (worker ??= ids.worker()),
      host: options.host ?? hostname(),
      agents: runner?.agents ?? [],
      handlers: { ...jobHandlers({ post, anchors }), ...runner?.handlers() },
      syncClock: (now) => clock.sync(now),
      onFailure: options.onFailure ?? (() => undefined),
      ...(options.onOutage && { onOutage: options.onOutage }),
    },
    ...(runner && { runner }),
  });
}

/** The targets for seals that the settings name, loaded when a seal is due. */
async function findAnchorTargets(anchor: AnchorSettings, post: AddressOptions): Promise<AnchorTarget[]> {
  const { anchorTargets } = await import("./engine/jobs/configured-anchor.ts");
  const { commitFile } = await import("./agents/commit-file.ts");
  const { file, url, isCommitted, readSecret } = anchor;
  const places = {
    file: file === undefined ? undefined : { path: file, commit: isCommitted ? commitFile : undefined },
    url: url === undefined ? undefined : { address: url, readSecret },
  };
  return anchorTargets(places, post);
}

/** The lasting id of this machine where its files are known, else its name. */
async function machineOf({ host, machineDir }: EngineOptions): Promise<string> {
  if (host !== undefined) return host;
  return machineDir === undefined ? hostname() : (await import("./agents/runner/machine-id.ts")).keepMachine(machineDir);
}

/** How long this machine has been up, sleep included; what its clock is set to makes no difference. */
function realTimeMs(): number {
  return uptime() * 1000;
}

/** This machine's randomness, whose library is loaded when it is first needed. */
function random(count: number): Uint8Array {
  return systemRandom(count);
}

/** Only the library of the store that is used gets loaded. */
export async function openStore(place: OwnStore): Promise<Store> {
  if (place.kind === "sqlite") return (await import("./store/sqlite/sqlite.ts")).openSqliteStore(place.file);
  return (await import("./store/postgres/postgres.ts")).openPostgres({ url: place.url });
}

/** Which schema a store has, without changing it, and which one this program knows. */
export async function findSchema(place: OwnStore): Promise<{ schema: number; known: number }> {
  if (place.kind === "sqlite") return (await import("./store/sqlite/schema.ts")).findSchema(place.file);
  return (await import("./store/postgres/migrate.ts")).findSchema(place.url);
}
