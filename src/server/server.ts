import { setMaxListeners } from "node:events";
import type { Hono } from "hono";
import type { Rules } from "../core/rules.ts";
import { MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import type { Engine } from "../engine/engine.ts";
import { type RouteGroup, createApp } from "./app.ts";
import { CallerRuns, type RunsOfCaller } from "./caller-run.ts";
import { EndedTokens } from "./events/ended-token.ts";
import { LiveEvents } from "./events/live.ts";
import type { EventFeed } from "./events/tail.ts";
import { type AllowedHosts, loopbackDoors } from "./guard.ts";
import { listen } from "./listen.ts";
import { type Log, reportTo } from "./log.ts";
import { loginPart } from "./login.tsx";
import { BackgroundWork } from "./mcp/work.ts";
import { openapiPart } from "./openapi.ts";
import { Monitor } from "./telemetry/monitor.ts";
import { type RestDeps, type RestLimits, restPart } from "./rest/part.ts";
import { RequestLimit } from "./rest/request-limit.ts";
import { sessionsPart } from "./sessions.ts";
import { Slots } from "./slots.ts";
import { assetsPart } from "./pages/assets.ts";
import { linksPart } from "./pages/link.tsx";
import { pagesPart } from "./pages/routes.tsx";
import { Presence } from "./pages/read/presence.ts";
import type { OtlpTarget } from "./telemetry/otlp.ts";
import type { AtHand } from "../web/card/card-view.ts";
import type { ChannelSet } from "../web/pages/channels.tsx";
import type { Store } from "../store/store.ts";

/** Codes that are tried from one address within a minute, on the page and by the API together. */
const MOST_SIGN_INS = 60;

export interface ServeDeps {
  engine: Engine;
  feed: EventFeed;
  rules: Rules;
  log: Log;
  version: string;
  /** The store itself, for metrics that only it has. */
  store?: Store;
  /** Where spans are sent, if anywhere. */
  traces?: OtlpTarget;
  /** Callers that wait in this process. */
  holds?: () => number;
  /** The configured channels, without secrets. */
  channels?: readonly ChannelSet[];
  /** Runs on this machine. */
  atHand?: AtHand;
  /** More parts of the server, from elsewhere. */
  parts?: readonly RouteGroup[];
  /** Finds the runs that the process at the other end of a connection was started for. */
  runsOfCaller?: RunsOfCaller;
  /** The same for runs in whose agent's session the caller is, also after the agent has ended. */
  sessionRunsOfCaller?: RunsOfCaller;
  /** The machine whose agents this server starts, while it does. */
  here?: () => string | undefined;
  heartbeatMs?: number;
  recheckMs?: number;
  /** How long a request may take to arrive. */
  requestMs?: number | undefined;
  /** A clock that only goes forward, for limits. */
  nowMs?: () => number;
}

export interface ServeOptions {
  port: number;
  /** Listens there besides this machine; only behind something that speaks TLS. */
  host?: string;
  /** More names under which people call it, with the port where it is not the usual one. */
  names?: readonly string[];
  isSecure?: boolean;
}

/** A server that listens. */
export interface RunningServer {
  port: number;
  live: LiveEvents;
  /** Lets requests in progress finish, and ends held ones so that their callers come back. */
  close(): Promise<void>;
}

/** Starts everything that is reached over HTTP. */
export async function serveHttp(deps: ServeDeps, options: ServeOptions): Promise<RunningServer> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every request under way listens
  let doors: AllowedHosts = loopbackDoors(options.port, options.names);
  const { app, live, ended, monitor, work } = buildHttp(deps, {
    doors: () => doors,
    isSecure: options.isSecure ?? false,
    stopping: stopping.signal,
  });
  const listening = await listen(app, options.port, { host: options.host, requestMs: deps.requestMs });
  // First follower of the feed: a stream must end before it shows events after the end of its token.
  const stopEnding = await ended.start(live.tail);
  const stopMonitor = await monitor.start();
  doors = loopbackDoors(listening.port, options.names);
  return {
    port: listening.port,
    live,
    close: async () => {
      stopping.abort();
      stopEnding();
      await stopMonitor();
      await listening.close();
      await work.done();
    },
  };
}

/** Puts the parts of the server together, without a port. */
export function buildHttp(
  deps: ServeDeps,
  { doors, isSecure, stopping }: { doors: () => AllowedHosts; isSecure: boolean; stopping: AbortSignal },
): { app: Hono; live: LiveEvents; ended: EndedTokens; monitor: Monitor; work: BackgroundWork } {
  const { engine, rules, log, nowMs = () => performance.now() } = deps;
  const onBug = reportTo(log);
  const live = new LiveEvents({
    feed: deps.feed,
    mostStreams: rules.limits.streams,
    stopping,
    onBug,
    mostStreamsPerToken: rules.limits.streamsPerToken,
    heartbeatMs: deps.heartbeatMs ?? 15 * SECOND_MS,
    recheckMs: deps.recheckMs ?? MINUTE_MS,
  });
  const ended = new EndedTokens();
  const work = new BackgroundWork(onBug);
  const { requestsPerMinute, holds: total, holdsPerToken: perOwner } = rules.limits;
  const limits: RestLimits = {
    requests: new RequestLimit({ perMinute: requestsPerMinute, caller: "This token", nowMs }),
    signIns: new RequestLimit({ perMinute: MOST_SIGN_INS, caller: "This address", nowMs }),
    holds: new Slots({ total, perOwner, called: "waiting requests" }),
  };
  const rest: RestDeps = { engine, rules, stopping, live, work, onBug, limits, here: deps.here };
  const { feed, store, holds = () => 0 } = deps;
  const callers = new CallerRuns(engine, deps.runsOfCaller, deps.sessionRunsOfCaller);
  const monitor = new Monitor({
    engine,
    feed,
    live,
    store,
    holds,
    rules,
    log,
    version: deps.version,
    traces: deps.traces,
  });
  const parts = [
    openapiPart(deps.version),
    assetsPart(),
    loginPart({ engine, isSecure, signIns: limits.signIns }),
    pagesPart({
      engine,
      rules,
      feed: deps.feed,
      log,
      live,
      isSecure,
      here: deps.here,
      presence: new Presence(),
      nowMs,
      atHand: deps.atHand,
      channels: deps.channels ?? [],
      jobs: store && ((limit) => store.listJobs(limit)),
    }),
    linksPart({ engine, rules, nowMs, callers }),
    restPart(rest),
    sessionsPart(rest),
    monitor.part(),
    ...(deps.parts ?? []),
  ];
  const { anonymousPerMinute } = rules.limits;
  const isBehindProxy = isSecure;
  const doorsOf = { engine, doors, callers, ended, onBug, log, nowMs, isBehindProxy, anonymousPerMinute };
  return { app: createApp(doorsOf, parts), live, ended, monitor, work };
}
