import { setMaxListeners } from "node:events";
import type { Hono } from "hono";
import type { Rules } from "../core/rules.ts";
import { MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import type { Engine } from "../engine/engine.ts";
import { type Part, createApp } from "./app.ts";
import { CallerRuns, type RunsOfCaller } from "./caller-run.ts";
import { EndedTokens } from "./events/ended-token.ts";
import { Live } from "./events/live.ts";
import type { Feed } from "./events/tail.ts";
import { type Doors, loopbackDoors } from "./guard.ts";
import { listen } from "./listen.ts";
import { type Log, reportTo } from "./log.ts";
import { loginPart } from "./login.tsx";
import { Work } from "./mcp/work.ts";
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
  feed: Feed;
  rules: Rules;
  log: Log;
  version: string;
  /** The store itself, for what is measured where it is. */
  store?: Store;
  /** Where spans are sent, if anywhere. */
  traces?: OtlpTarget;
  /** Callers that wait in this process. */
  holds?: () => number;
  /** How people are told, as it is configured; nothing secret is in it. */
  channels?: readonly ChannelSet[];
  /** What is known of runs on this machine. */
  atHand?: AtHand;
  /** More parts of the server, from elsewhere. */
  parts?: readonly Part[];
  /** Says which runs the process at the other end of a connection was started for. */
  runsOfCaller?: RunsOfCaller;
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
export interface Served {
  port: number;
  live: Live;
  /** Lets requests under way finish, and those that wait know that they should come back. */
  close(): Promise<void>;
}

/** Starts everything that is reached over HTTP. */
export async function serveHttp(deps: ServeDeps, options: ServeOptions): Promise<Served> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every request under way listens
  let doors: Doors = loopbackDoors(options.port, options.names);
  const { app, live, ended, monitor, work } = buildHttp(deps, {
    doors: () => doors,
    isSecure: options.isSecure ?? false,
    stopping: stopping.signal,
  });
  const listening = await listen(app, options.port, { host: options.host, requestMs: deps.requestMs });
  // Before anybody else follows the feed: a stream ends before it tells of what came after its token's end.
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
  { doors, isSecure, stopping }: { doors: () => Doors; isSecure: boolean; stopping: AbortSignal },
): { app: Hono; live: Live; ended: EndedTokens; monitor: Monitor; work: Work } {
  const { engine, rules, log, nowMs = () => performance.now() } = deps;
  const onBug = reportTo(log);
  const live = new Live({
    ...{ feed: deps.feed, mostStreams: rules.limits.streams, stopping, onBug },
    mostStreamsPerToken: rules.limits.streamsPerToken,
    heartbeatMs: deps.heartbeatMs ?? 15 * SECOND_MS,
    recheckMs: deps.recheckMs ?? MINUTE_MS,
  });
  const ended = new EndedTokens();
  const work = new Work(onBug);
  const { requestsPerMinute, holds: total, holdsPerToken: perOwner } = rules.limits;
  const limits: RestLimits = {
    requests: new RequestLimit({ perMinute: requestsPerMinute, caller: "This token", nowMs }),
    signIns: new RequestLimit({ perMinute: MOST_SIGN_INS, caller: "This address", nowMs }),
    holds: new Slots({ total, perOwner, called: "waiting requests" }),
  };
  const rest: RestDeps = { engine, rules, stopping, live, work, onBug, limits, here: deps.here };
  const { feed, store, holds = () => 0 } = deps;
  const callers = new CallerRuns(engine, deps.runsOfCaller);
  const monitor = new Monitor({
    ...{ engine, feed, live, store, holds, rules, log },
    ...{ version: deps.version, traces: deps.traces },
  });
  const parts = [
    openapiPart(deps.version),
    assetsPart(),
    loginPart({ engine, isSecure, signIns: limits.signIns }),
    pagesPart({
      ...{ engine, rules, feed: deps.feed, log, live, isSecure, here: deps.here },
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
