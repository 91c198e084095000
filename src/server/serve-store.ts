import type { SignedHook } from "../core/answer/hook-answer.ts";
import type { LocalEngine } from "../engine/local-engine.ts";
import type { KnownClients } from "../core/door/known-clients.ts";
import type { Rules } from "../core/rules.ts";
import type { Store } from "../store/store.ts";
import type { AtHand } from "../web/card/card-view.ts";
import type { ChannelSet } from "../web/pages/channels.tsx";
import type { RunsOfCaller } from "./caller-run.ts";
import { announceServer, keepLocalToken, serverFiles, withdrawServer } from "./local-token.ts";
import { type Log, reportTo } from "./log.ts";
import type { Holders } from "./mcp/caller.ts";
import { mcpPart } from "./mcp/http.ts";
import { type StartByWebhook, hooksPart } from "./hooks.ts";
import type { OtlpTarget } from "./telemetry/otlp.ts";
import { type ServeOptions, serveHttp } from "./server.ts";

interface StoreServed {
  store: Store;
  engine: LocalEngine;
  rules: Rules;
  runtimeDir: string;
  user: string;
  log: Log;
  version: string;
  holders: Holders;
  /** The agents' clients, as their folders know them. */
  clients: KnownClients;
  /** The lasting id of this machine. */
  host: string;
  traces?: OtlpTarget;
  atHand?: AtHand;
  channels?: readonly ChannelSet[];
  hooks?: readonly SignedHook[];
  startByWebhook: StartByWebhook;
  runsOfCaller?: RunsOfCaller;
  sessionRunsOfCaller?: RunsOfCaller;
}

/** Serves a store, and publishes a token and an address for programs of this user; closing removes the address. */
export async function serveStore(deps: StoreServed, options: ServeOptions) {
  const { store, engine, log } = deps;
  const files = serverFiles(deps.runtimeDir);
  try {
    await keepLocalToken(files.token, engine, deps.user);
    const onBug = reportTo(log);
    const { rules, version, holders, host, clients } = deps;
    const mcp = mcpPart({ engine, holders, rules, version, host, clients, onBug });
    const answers = { engine, hooks: deps.hooks ?? [], startByWebhook: deps.startByWebhook };
    let isWorking = false;
    const here = () => (isWorking ? host : undefined);
    const around = {
      feed: feedOf(store),
      parts: [mcp, hooksPart({ receive: engine.receiveHook, answers, onBug })],
      holds: () => engine.holds,
      here,
    };
    const served = await serveHttp({ ...deps, ...around }, options);
    const url = `http://127.0.0.1:${served.port}`;
    const word = { pid: process.pid, url };
    await announceServer(deps.runtimeDir, word);
    log("info", "started", { url, pid: process.pid });
    return {
      url,
      work: () => {
        isWorking = true;
        return engine.work();
      },
      close: async () => {
        await mcp.close(); // agents that are held hear that they should stop
        await served.close();
        await withdrawServer(deps.runtimeDir, word);
        await engine.stop();
        log("info", "stopped", { url });
      },
    };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

function feedOf(store: Store): Parameters<typeof serveHttp>[0]["feed"] {
  return {
    read: (after, limit) => store.readFeed(after, limit),
    readBack: (filter) => store.readTrailPage(filter),
    findEnd: () => store.findFeedEnd(),
    onChange: (listener) => store.onChange(listener),
  };
}
