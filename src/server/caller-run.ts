import type { Socket } from "node:net";
import type { Context } from "hono";
import type { RunId } from "../core/id.ts";
import type { Engine } from "../engine/engine.ts";
import { findKnownRun, findLiveRun } from "../engine/live-run.ts";
import { outgoingOf } from "./node-response.ts";

/** Finds the runs that the process at the other end of a connection was started for, if that is visible. */
export type RunsOfCaller = (socket: Socket) => Promise<readonly string[]>;

/** Finds the live run whose agent sends a request: whatever credential it has found, it is no person. */
export class CallerRuns {
  readonly #engine: Pick<Engine, "findRun">;
  readonly #runsOf: RunsOfCaller;
  readonly #sessionRunsOf: RunsOfCaller;
  /** A connection keeps its process, so each is checked once. */
  readonly #seen = new WeakMap<Socket, Promise<readonly string[]>>();
  readonly #seenSessions = new WeakMap<Socket, Promise<readonly string[]>>();

  constructor(
    engine: Pick<Engine, "findRun">,
    runsOf: RunsOfCaller = async () => [],
    sessionRunsOf: RunsOfCaller = async () => [],
  ) {
    this.#engine = engine;
    this.#runsOf = runsOf;
    this.#sessionRunsOf = sessionRunsOf;
  }

  /** The live run above the sender of this request, or the run of its session; read-only requests are not checked. */
  async find(context: Context): Promise<RunId | undefined> {
    const socket = outgoingOf(context)?.req.socket;
    if (!socket || context.req.method === "GET" || context.req.method === "HEAD") return undefined;
    const runs = this.#seen.get(socket) ?? this.#runsOf(socket);
    this.#seen.set(socket, runs);
    const live = await findLiveRun(this.#engine, await runs);
    if (live !== undefined) return live;
    const left = this.#seenSessions.get(socket) ?? this.#sessionRunsOf(socket);
    this.#seenSessions.set(socket, left);
    return findKnownRun(this.#engine, await left);
  }
}
