import { hash } from "node:crypto";
import { type Actor, SYSTEM } from "../src/core/people/actor.ts";
import type { Rules } from "../src/core/rules.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import { createRemoteEngine } from "../src/engine/remote/remote-engine.ts";
import { type ServeDeps, buildHttp } from "../src/server/server.ts";
import type { Store } from "../src/store/store.ts";
import { NOON } from "./builders.ts";

/** An engine that reaches the given one through a server's routes, without a port between them. */
export function remoteEngine(local: LocalEngine, store: Store, rules: Rules): Engine {
  const actors = new Map<string, Actor>();
  const deps: ServeDeps = {
    engine: knowing(local, actors),
    rules,
    version: "0.0.0",
    feed: feedOf(store),
    log: (level, event, fields) => {
      if (level === "error") throw new Error(`${event}: ${fields?.["stack"]}`);
    },
  };
  const doors = { hosts: new Set([""]), origins: new Set<string>() };
  const stopping = new AbortController();
  const { app } = buildHttp(deps, { doors: () => doors, isSecure: false, stopping: stopping.signal });
  return createRemoteEngine({
    url: "http://test.invalid",
    newKey: () => `key ${Math.random()}`,
    tokenFor: (by = SYSTEM) => {
      // Programs that act as an agent have the token of whoever started them.
      const bearer: Actor = by.scope === "human" ? by : { ...by, scope: "admin", id: "root" };
      const text = `test_${hash("sha256", JSON.stringify(bearer), "hex")}`;
      actors.set(text, bearer);
      return text;
    },
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  });
}

/** The feed of a store. */
export function feedOf(store: Store): ServeDeps["feed"] {
  return {
    read: (after, limit) => store.readFeed(after, limit),
    readBack: (filter) => store.readTrailPage(filter),
    findEnd: () => store.findFeedEnd(),
    onChange: (listener) => store.onChange(listener),
  };
}

/** The same engine, which takes these texts as tokens of exactly these people. */
function knowing(local: LocalEngine, actors: ReadonlyMap<string, Actor>): Engine {
  const authenticate: Engine["authenticate"] = async (text) => {
    const actor = actors.get(text);
    const token = { id: text, version: 1, scope: "human", subject: "", onBehalf: false, createdAt: NOON } as const;
    return actor && { actor, token };
  };
  return new Proxy<Engine>(local, {
    get: (target, name) => {
      if (name === "authenticate") return authenticate;
      const method: unknown = Reflect.get(target, name, target);
      return typeof method === "function"
        ? (...args: unknown[]): unknown => Reflect.apply(method, target, args)
        : method;
    },
  });
}
