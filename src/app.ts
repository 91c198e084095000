import { randomBytes, randomUUID } from "node:crypto";
import { hostname, uptime } from "node:os";
import { readBootId } from "./agents/process/boot-id.ts";
import type { ConnectionEnds } from "./agents/process/caller-process.ts";
import type { AgentRegistry } from "./agents/registry.ts";
import type { AnchorSettings } from "./config/anchor.ts";
import type { SignedHook } from "./core/answer/hook-answer.ts";
import type { OpenChannel } from "./core/channel/channel.ts";
import type { ChannelSettings } from "./core/channel/channel-settings.ts";
import { type Ids, type WorkerId, idsFrom, pooledRandom } from "./core/id.ts";
import { instant } from "./core/instant.ts";
import { Refusal } from "./core/refusal.ts";
import type { Rules } from "./core/rules.ts";
import type { Run } from "./core/run/run.ts";
import type { Webhook } from "./core/workflow/webhook.ts";
import type { Engine } from "./engine/engine.ts";
import { describeFailure, describeOutage, withoutRepeats } from "./engine/jobs/describe-failure.ts";
import { isRare, sayWhy } from "./engine/jobs/job-retry.ts";
import { jobHandlers } from "./engine/jobs/job-handlers.ts";
import { type LocalDeps, type LocalEngine, createLocalEngine } from "./engine/local-engine.ts";
import type { AddressOptions } from "./engine/outbound/public-address.ts";
import type { Patience } from "./engine/remote/remote-call.ts";
import type { JobContext, WorkerDeps } from "./engine/jobs/worker.ts";
import type { ServeOptions } from "./server/server.ts";
import { type StoreAddress, openStore } from "./store/open-store.ts";
import type { Store } from "./store/store.ts";
import type { AgentSettings } from "./agents/runner/step-agents.ts";
import type { StepRunner } from "./workflow/run/step-runner.ts";
import type { McpServerSettings, StepOutside } from "./workflow/tool/tool.ts";

declare const ASKD_VERSION: string | undefined; // set when the program is built
const VERSION = typeof ASKD_VERSION === "string" ? ASKD_VERSION : "0.0.0";

/** A read-only store is not written to by opening it, and refuses changes. */
type OwnStore = StoreAddress & { isReadOnly?: boolean };
type RemoteServer = { kind: "server"; url: string; token: string | undefined; runtimeDir: string; source: string };

export interface AppOptions {
  store: OwnStore | RemoteServer;
  rules: Rules;
  /** Set if this process starts and follows agents. */
  runs?: RunnerOptions;
  /** The directory with the machine id. */
  machineDir?: string;
  /** The targets that seals of the trail are written to. */
  anchor?: AnchorSettings | undefined;
  /** Set if this process brings messages to people. */
  reach?: ChannelSettings | undefined;
  /** Called with a line about every request to a server: what, the result, and the duration. */
  onCall?: (line: string) => void;
  /** Retries requests during a restart of the server. */
  patience?: Patience | undefined;
}

/** The options of the agent runner. */
export interface RunnerOptions {
  stateDir: string;
  /** The agents that can be started, if not those of askd. */
  agents?: AgentRegistry;
  /** How to start askd itself. */
  askd: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Logs a line about a run. */
  note: (run: string, text: string) => void;
  /** Called at each step of the work with an agent; tests kill the process there. */
  onStep?: (step: string) => void;
  /** Servers, agents and secrets of workflows; without it, none of their steps are done here. */
  workflows?: WorkflowOptions | undefined;
}

/** The options of workflows. */
export interface WorkflowOptions {
  mcpServers: readonly McpServerSettings[];
  agents: Readonly<Record<string, AgentSettings>>;
  readSecrets(): Readonly<Record<string, string>>;
  secretVariables: readonly string[];
  leaseMs?: number;
}

export interface ServerOptions extends AppOptions {
  runtimeDir: string;
  /** The name of this user, whom programs on this machine act for. */
  user: string;
  writeLog: (line: string) => void;
  /** The configured channels, without secrets. */
  channels?: ReadonlyArray<{ name: string; settings: ReadonlyArray<readonly [string, string]> }>;
  /** The programs that may post answers, or what starts workflows. */
  hooks?: readonly SignedHook[];
  /** Logs every request too. */
  isVerbose: boolean;
  /** The environment with the OpenTelemetry variables. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Opens the store with an engine, or connects to the engine of a server. */
export async function openEngine(options: AppOptions): Promise<Engine> {
  const { store, rules, runs, machineDir, anchor, reach, onCall, patience } = options;
  if (store.kind === "server") return openRemote(store, { onCall, patience });
  const opened = await openStore(store);
  // A server watches for alerts itself, with what it reads of the feed anyway.
  const alerts = runs && {
    onAlert: (name: string, value: number) => runs.note("alert", `${name}: ${value}`),
    onFailure: (error: unknown) => runs.note("alert", `cannot watch: ${sayWhy(error)}; it is tried again`),
  };
  const openChannel = reach && openChannels(reach, rules);
  return engineFor(opened, { rules, anchor, machineDir, openChannel, alerts, place: store, reach }, runs);
}

/** Creates the engine of a store, with an agent runner if requested. */
async function engineFor(store: Store, options: EngineOptions, given: RunnerOptions | undefined) {
  if (!given) return engineOn(store, options);
  const { withoutVariables } = await import("./agents/runner/run-files.ts");
  const runs = { ...given, env: withoutVariables(given.env, given.workflows?.secretVariables ?? []) };
  const registry = runs.agents ?? (await import("./agents/agents.ts")).AGENTS;
  const { agentsByName } = await import("./agents/registry.ts");
  const { Runner } = await import("./agents/runner/runner.ts");
  const { ensureMachineId } = await import("./agents/runner/machine-id.ts");
  const host = ensureMachineId(runs.stateDir);
  const ids = options.ids ?? idsFrom(Date.now, pooledRandom(randomBytes));
  const worker = ids.worker();
  const runner = new Runner({
    ...runs,
    worker,
    agents: agentsByName(registry),
    host,
    rules: options.rules,
    liveWindowMs: options.rules.liveWindowMs,
    engine: () => engine,
    version: VERSION,
    note: (run, text) => runs.note(`#${run.number}`, text),
    onFailure: (run, error) => runs.note(`#${run.number}`, error instanceof Error ? error.message : String(error)),
  });
  const onFailure = options.onFailure ?? ((job, error) => runs.note(job.key, describeFailure(job, error)));
  const onOutage =
    options.onOutage ?? ((error, times) => void (isRare(times) && runs.note("worker", describeOutage(error))));
  const onChannelFailure =
    options.onChannelFailure ??
    ((channel: string, error: unknown) => runs.note(channel, `cannot listen: ${sayWhy(error)}; it is tried again`));
  const steps = runs.workflows && (await openSteps(runs, runs.workflows, { ...options, worker, registry }));
  const more = { ids, worker, runner, steps, host, onFailure: withoutRepeats(onFailure), onOutage, onChannelFailure };
  const engine: LocalEngine = engineOn(store, { ...options, ...more });
  return engine;
}

/** Serves a store over HTTP, and publishes its address to this user's programs. */
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
    {
      rules: options.rules,
      anchor: options.anchor,
      openChannel: options.reach && openChannels(options.reach, options.rules),
      place: options.store,
      reach: options.reach,
      onChannelFailure: (channel, error) =>
        log("warn", "channel_failed", { channel, message: sayError(error).message }),
      onFailure,
      onOutage,
    },
    options.runs,
  );
  const { readTarget } = await import("./server/telemetry/otlp.ts");
  const traces = readTarget(options.env);
  const { findWorkspaceChanges, findTakeoverCommand } = await import("./agents/runner/local-run.ts");
  const { ensureMachineId } = await import("./agents/runner/machine-id.ts");
  const { findRunLog } = await import("./agents/runner/run-log.ts");
  const { processHolder } = await import("./agents/process/process-holder.ts");
  const stateDir = options.runs?.stateDir;
  const host = stateDir === undefined ? hostname() : ensureMachineId(stateDir);
  const { AGENTS } = await import("./agents/agents.ts");
  const { knownClients } = await import("./agents/registry.ts");
  const agents = options.runs?.agents ?? AGENTS;
  const clients = knownClients(agents);
  const atHand = {
    work: (run: Run) => findWorkspaceChanges(run, host),
    takeover: (run: Run) => findTakeoverCommand(run, { agents, host, env: options.env }),
    ...(stateDir !== undefined && { log: (run: Run, from?: string) => findRunLog({ agents, stateDir }, run, from) }),
  };
  const holders = await processHolder();
  const { runsOfCaller, sessionRunsOfCaller } = await import("./agents/process/caller-process.ts");
  const callers = {
    runsOfCaller,
    ...(stateDir !== undefined && {
      sessionRunsOfCaller: (ends: ConnectionEnds) => sessionRunsOfCaller(ends, stateDir),
    }),
  };
  const byOthers = { ...callers, startByWebhook: webhookStarter(engine, host) };
  const deps = { ...options, store, engine, log, version: VERSION, host, holders, clients, atHand, ...byOthers };
  return { engine, ...(await serveStore({ ...deps, ...(traces && { traces }) }, request)) };
}

/** Starts the workflows of this machine that wait for a webhook; the part that does so is loaded with the first. */
function webhookStarter({ inside }: LocalEngine, host: string) {
  return async (webhook: Webhook) =>
    (await import("./workflow/run/webhook-trigger.ts")).startByWebhook(webhook, { ...inside, host });
}

/** Finds the address that this user's server published. */
export async function findServer(runtimeDir: string): Promise<string | undefined> {
  return (await import("./server/local-token.ts")).findAddress(runtimeDir);
}

async function openRemote(
  { url, token, runtimeDir }: RemoteServer,
  { onCall, patience }: Pick<AppOptions, "onCall" | "patience">,
) {
  const { createRemoteEngine } = await import("./engine/remote/remote-engine.ts");
  const text = token ?? (await readOwnToken(url, runtimeDir));
  const { tellingFetch } = await import("./engine/remote/remote-call.ts");
  return createRemoteEngine({
    url,
    tokenFor: () => text,
    newKey: randomUUID,
    fetch: onCall && tellingFetch(onCall),
    patience,
  });
}

/** Reads the token of this machine's server; it is never sent to another server. */
async function readOwnToken(url: string, runtimeDir: string) {
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
  /** The clock, uptime and randomness of this machine; tests bring their own. */
  nowMs?: () => number;
  uptimeMs?: () => number;
  randomBytes?: (count: number) => Uint8Array;
  ids?: Ids;
  /** Called when the store cannot hand out jobs. */
  onOutage?: NonNullable<WorkerDeps["onOutage"]>;
  /** Called for failed jobs, which are retried. */
  onFailure?: WorkerDeps["onFailure"];
  worker?: WorkerId;
  /** The machine id, if agents are started here. */
  host?: string;
  /** The directory with the machine id, if no agents are started here. */
  machineDir?: string;
  /** The targets that seals of the trail are written to. */
  anchor?: AnchorSettings | undefined;
  /** Opens the channels that this process brings messages to. */
  openChannel?: OpenChannel | undefined;
  /** Reports what people are warned of, in a process that watches for it. */
  alerts?: LocalDeps["alerts"];
  /** Called when replies of a channel cannot be listened for; it is tried again. */
  onChannelFailure?: (channel: string, error: unknown) => void;
  /** Starts and follows agents; detached when the engine stops. */
  runner?: AgentRunner;
  /** Does the steps of workflows. */
  steps?: Pick<StepRunner, "handlers" | "leave" | "count"> | undefined;
  /** Where the store is and the settings of channels, for steps that need them. */
  place?: OwnStore | undefined;
  reach?: ChannelSettings | undefined;
}

interface AgentRunner {
  agents: readonly string[];
  count: number;
  handlers(): WorkerDeps["handlers"];
  begin(work: Pick<JobContext, "store" | "decider">): Promise<void>;
  leave(): Promise<void>;
}

/** Creates an engine on a store, with everything it needs to do due jobs. */
export function engineOn(store: Store, options: EngineOptions): LocalEngine {
  const { rules, nowMs = Date.now, randomBytes: bytes = pooledRandom(randomBytes) } = options;
  const { runner, anchor, openChannel, ids = idsFrom(nowMs, bytes) } = options;
  const post = { allowLoopback: rules.callbackLoopback };
  const anchors = anchor && (() => findAnchorTargets(anchor, post));
  let worker = options.worker;
  return createLocalEngine({
    store,
    ids,
    rules,
    randomBytes: bytes,
    nowMs,
    machine: {
      id: () => machineOf(options),
      boot: readBootId,
      uptimeMs: options.uptimeMs ?? options.nowMs ?? realTimeMs,
    },
    worker: {
      id: () => (worker ??= ids.worker()),
      host: options.host ?? hostname(),
      agents: runner?.agents ?? [],
      handlers: { ...jobHandlers({ post, anchors }), ...runner?.handlers(), ...options.steps?.handlers() },
      onFailure: options.onFailure ?? (() => undefined),
      onOutage: options.onOutage,
    },
    reach: openChannel && { openChannel, onFailure: options.onChannelFailure ?? (() => undefined) },
    alerts: options.alerts,
    runner: runner && {
      begin: (work) => runner.begin(work),
      leave: async () => void (await Promise.all([runner.leave(), options.steps?.leave()])),
      get count() {
        return runner.count + (options.steps?.count ?? 0);
      },
    },
  });
}

/** Puts together what the steps of workflows act on. */
async function openSteps(
  runs: RunnerOptions,
  { mcpServers, agents, readSecrets, leaseMs }: WorkflowOptions,
  { rules, place, reach, worker, registry }: EngineOptions & { worker: WorkerId; registry: AgentRegistry },
) {
  const { stepAgents } = await import("./agents/runner/step-agents.ts");
  const { StepRunner: Runner } = await import("./workflow/run/step-runner.ts");
  const env = {
    ...runs.env,
    ...(place && { ASKD_STORE: place.kind === "sqlite" ? `sqlite:${place.file}` : place.url }),
  };
  const here = stepAgents({
    stateDir: runs.stateDir,
    registry,
    settings: agents,
    env,
    liveWindowMs: rules.liveWindowMs,
  });
  const address = { allowLoopback: rules.callbackLoopback };
  const outside: StepOutside = {
    ...here,
    mcpServers,
    openTracker: async () => reach?.github && (await openTracker(reach.github)),
    request: async ({ url, ...asked }) => (await import("./engine/outbound/post.ts")).request(url, asked, address),
  };
  return new Runner({ worker, outside, readSecrets, stopPrograms: here.stopPrograms, leaseMs, onStep: runs.onStep });
}

async function openTracker(settings: NonNullable<ChannelSettings["github"]>) {
  const { githubTracker } = await import("./channels/github/issue-tracker.ts");
  return githubTracker(settings, { fetch, nowMs: Date.now });
}

/** Opens the configured channels, each when it is first used. */
export function openChannels(settings: ChannelSettings, rules: Pick<Rules, "callbackLoopback">): OpenChannel {
  let opener: Promise<OpenChannel> | undefined;
  const load = async () => {
    const { channelOpener } = await import("./channels/channels.ts");
    const { post } = await import("./engine/outbound/post.ts");
    const { runProgram } = await import("./agents/process/run-program.ts");
    const options = { allowLoopback: rules.callbackLoopback };
    const outbound = {
      post: (url: string, message: Parameters<typeof post>[1]) => post(url, message, options),
      fetch,
      run: runProgram,
      nowMs: Date.now,
    };
    return channelOpener({ settings, outbound });
  };
  return async (name) => (await (opener ??= load()))(name);
}

/** The configured anchor targets, loaded when a seal is due. */
async function findAnchorTargets(anchor: AnchorSettings, post: AddressOptions) {
  const { anchorTargets } = await import("./engine/jobs/configured-anchor.ts");
  const { commitFile } = await import("./agents/workspace/git.ts");
  const { file, url, isCommitted, readSecret } = anchor;
  const places = {
    file: file === undefined ? undefined : { path: file, commit: isCommitted ? commitFile : undefined },
    url: url === undefined ? undefined : { address: url, readSecret },
  };
  return anchorTargets(places, post);
}

/** The machine id, or the host name without a state directory. */
async function machineOf({ host, machineDir }: EngineOptions) {
  if (host !== undefined) return host;
  return machineDir === undefined
    ? hostname()
    : (await import("./agents/runner/machine-id.ts")).ensureMachineId(machineDir);
}

/** The uptime of this machine, sleep included, independent of its clock. */
function realTimeMs() {
  return uptime() * 1000;
}
