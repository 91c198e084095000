import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
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
import { type Log, reportTo } from "./log.ts";
import { loginPart } from "./login.tsx";
import { BackgroundWork } from "./mcp/background-work.ts";
import { openapiPart } from "./openapi.ts";
import { Monitor } from "./telemetry/monitor.ts";
import { type RestDeps, type RestLimits, restPart } from "./rest/routes.ts";
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
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Refusal } from "../core/refusal.ts";

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
const LOOPBACK = ["127.0.0.1", "::1"] as const;
const GRACE_MS = 5_000;
const SWEEP_MS = 20;
const REQUEST_MS = 30_000;
const HEADERS_MS = 15_000;
const CHECK_MS = 2_000;

interface ListenOptions {
  /** Listens there besides loopback. */
  host?: string | undefined;
  /** How long a request may take to arrive. */
  requestMs?: number | undefined;
}

/** Servers that listen on one port. */
export interface ListeningSocket {
  port: number;
  /** Takes no more requests and lets those under way finish for a while. */
  close(): Promise<void>;
}

/** Starts everything that is reached over HTTP. */
export async function serveHttp(deps: ServeDeps, options: ServeOptions): Promise<RunningServer> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every request under way listens
  const { publicUrl } = deps.rules;
  const names = [...(options.names ?? []), ...(publicUrl === undefined ? [] : [new URL(publicUrl).host])];
  let doors: AllowedHosts = loopbackDoors(options.port, names);
  const { app, live, ended, monitor, work } = buildHttp(deps, {
    doors: () => doors,
    isSecure: options.isSecure ?? false,
    stopping: stopping.signal,
  });
  const listening = await listen(app, options.port, { host: options.host, requestMs: deps.requestMs });
  doors = loopbackDoors(listening.port, names);
  // First follower of the feed: a stream must end before it shows events after the end of its token.
  const followers = await startAll([() => ended.start(live.tail), () => monitor.start()]).catch(
    async (error: unknown) => {
      stopping.abort();
      await listening.close(); // a server that cannot serve must not look as if it did
      throw error;
    },
  );
  return {
    port: listening.port,
    live,
    close: async () => {
      stopping.abort();
      for (const stop of followers) await stop();
      await listening.close();
      await work.done();
    },
  };
}

type Stop = () => void | Promise<void>;

/** Starts them one after the other; if one fails, those before it are stopped. */
async function startAll(starts: ReadonlyArray<() => Promise<Stop>>): Promise<Stop[]> {
  const stops: Stop[] = [];
  try {
    for (const start of starts) stops.push(await start());
    return stops;
  } catch (error) {
    for (const stop of stops) await stop();
    throw error;
  }
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
      workflows: store,
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

/**
 * Listens on the loopback addresses of both families; a machine without one of them does with the other.
 * A host besides is for whoever has put something before it that speaks TLS.
 */
export async function listen(
  app: Hono,
  port: number,
  { host, requestMs }: ListenOptions = {},
): Promise<ListeningSocket> {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const first = await open(app, { hostname: isEverywhere ? host : LOOPBACK[0], port, requestMs });
  const actual = portOf(first);
  const servers = [first];
  try {
    if (host !== undefined && !isEverywhere) servers.push(await open(app, { hostname: host, port: actual, requestMs }));
  } catch (error) {
    await closeServer(first);
    throw error;
  }
  const second = isEverywhere
    ? undefined
    : await open(app, { hostname: LOOPBACK[1], port: actual, requestMs }).catch(() => undefined);
  if (second) servers.push(second);
  return {
    port: actual,
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

interface OpenOptions {
  hostname: string;
  port: number;
  requestMs: number | undefined;
}

function open(app: Hono, { hostname, port, requestMs = REQUEST_MS }: OpenOptions): Promise<Server> {
  // Node ends a connection whose request is not complete by then; how long a reply takes does not count.
  const serverOptions = {
    requestTimeout: requestMs,
    headersTimeout: Math.min(requestMs, HEADERS_MS),
    connectionsCheckingInterval: Math.min(requestMs, CHECK_MS),
  };
  return new Promise((resolve, reject) => {
    const given = { fetch: app.fetch, hostname, port, serverOptions };
    const server = serve(given, () => resolve(server)) as Server; // plain HTTP was asked for
    server.on("connection", keepEnds);
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      const message = isTaken ? `Port ${port} is taken` : `Cannot listen on ${hostname}:${port} (${cause.code})`;
      reject(
        new Refusal("store_unreachable", message, { cause, hint: "Choose another one: --port 0 picks a free port" }),
      );
    });
  });
}

/** Reads both addresses once: Node keeps what it has read, and has none for a connection that the caller reset. */
function keepEnds(socket: Socket): void {
  void [socket.remoteAddress, socket.localAddress];
}

function portOf(server: Server) {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    // A connection is kept open for the next request; none will come.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
