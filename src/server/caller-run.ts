import type { Socket } from "node:net";
import type { Context } from "hono";
import type { RunId } from "../core/id.ts";
import type { Engine } from "../engine/engine.ts";
import { findLiveRun } from "../engine/live-run.ts";
import { outgoingOf } from "./outgoing.ts";

/** Says which runs the process at the other end of a connection was started for, where that can be seen. */
export type RunsOfCaller = (socket: Socket) => Promise<readonly string[]>;

/** Finds the live run whose agent sends a request: whatever credential it has found, it is no person. */
export class CallerRuns {
  readonly #engine: Pick<Engine, "findRun">;
  readonly #runsOf: RunsOfCaller;
  /** A connection keeps its process, so each is looked at once. */
  readonly #seen = new WeakMap<Socket, Promise<readonly string[]>>();

  constructor(engine: Pick<Engine, "findRun">, runsOf: RunsOfCaller = async () => []) {
    this.#engine = engine;
    this.#runsOf = runsOf;
  }

  /** The live run above whoever sends this request; what only reads is not looked at. */
  async find(context: Context): Promise<RunId | undefined> {
    const socket = outgoingOf(context)?.req.socket;
    if (!socket || context.req.method === "GET" || context.req.method === "HEAD") return undefined;
    const runs = this.#seen.get(socket) ?? this.#runsOf(socket);
    this.#seen.set(socket, runs);
    return findLiveRun(this.#engine, await runs);
  }
}
