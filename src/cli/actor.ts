import type { Actor } from "../core/people/actor.ts";
import { RunId } from "../core/id.ts";
import type { Run } from "../core/run/run.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { findKnownRun, findLiveRun } from "../engine/live-run.ts";
import type { Context } from "./context.ts";

type UserContext = Pick<Context, "env" | "user">;
type Surroundings = Pick<Context, "env" | "runsAbove" | "runsOfSession" | "isInSessionOf" | "place">;
type View = Pick<Context, "seesAllAbove" | "mayHide" | "place" | "host">;
type ActorContext = UserContext & Surroundings & View;
type Runs = Pick<Engine, "findRun" | "listRuns">;

/** States in which a run may have an agent, as far as its worker follows one. */
const WITH_AGENT = ["running", "resuming", "awaiting_input", "deferred", "blocked", "skipped", "cancelled"] as const;
const MOST_RUNS = 500;

/** The actor of this command: the user of this machine, unless an agent's run started it, however far above or long ago. */
export async function whoTypes(engine: Runs, context: ActorContext): Promise<Actor> {
  const runId = (await findProvenRun(engine, context)) ?? (await findRunAround(engine, context));
  if (runId) return { ...whoAsks(context), runId };
  const hidden = await findHiddenAgent(engine, context);
  if (hidden) {
    throw new Refusal("not_permitted", `The agent of run #${hidden.number} may be above this process, out of sight`, {
      hint: "Do it outside of this container or namespace, in the inbox or by a channel; see whether it lives: askd status",
    });
  }
  return { scope: "human", id: context.user, channel: "cli", strength: "local" };
}

/** The actor who manages tokens and people: the user as an admin; an agent stays an agent. */
export async function whoManages(engine: Runs, context: ActorContext): Promise<Actor> {
  const by = await whoTypes(engine, context);
  return by.scope === "agent" ? by : { ...by, scope: "admin" };
}

/** The actor who asks: a program, with its own run if it has one. */
export function whoAsks(context: UserContext): Actor {
  const runId = findOwnRun(context);
  const id = context.env["ASKD_AGENT"] || context.user;
  return { scope: "agent", id, channel: "cli", strength: "none", ...(runId && { runId }) };
}

/**
 * The run that this process says it belongs to. An agent can write any run into its environment, but its processes stay
 * in the session that its own run was started with.
 */
export async function findProvenRun(
  engine: Pick<Engine, "findRun">,
  context: Surroundings,
): Promise<RunId | undefined> {
  const own = findOwnRun(context);
  if (own === undefined || (await context.isInSessionOf(own, context.place.stateDir))) return own;
  const actual = await findRunAround(engine, context, own);
  if (actual === undefined) return own;
  throw new Refusal("not_permitted", `This process belongs to the run ${actual}, and ASKD_RUN names another`, {
    hint: "Leave ASKD_RUN as it was when the agent was started",
  });
}

/** The run in which this process is, whatever its environment says; `except` is not looked for. */
async function findRunAround(
  engine: Pick<Engine, "findRun">,
  context: Omit<Surroundings, "env">,
  except?: RunId,
): Promise<RunId | undefined> {
  const above = context.runsAbove().filter((name) => name !== except);
  const around = async () => (await context.runsOfSession(context.place.stateDir)).filter((name) => name !== except);
  return (await findLiveRun(engine, above)) ?? (await findKnownRun(engine, await around()));
}

/**
 * A run whose live agent may be above this process without being seen: in a namespace of processes of its own, or with
 * another /proc, an agent has nobody above it. A server looks for itself at who calls it.
 */
export async function findHiddenAgent(engine: Pick<Engine, "listRuns">, context: View): Promise<Run | undefined> {
  const { store, stateDir } = context.place;
  if (store.kind === "server" || (await context.seesAllAbove())) return undefined;
  const runs = await engine.listRuns({ statuses: WITH_AGENT, order: "newest", limit: MOST_RUNS });
  const host = store.kind === "postgres" ? await context.host() : undefined;
  for (const run of runs) {
    if (run.worker === undefined || (host !== undefined && run.host !== host)) continue;
    if (await context.mayHide(run, stateDir)) return run;
  }
  return undefined;
}

/** Refuses an agent, without a look at the store: every run that this process seems to belong to counts. */
export async function requirePerson(
  what: string,
  { env, place, runsAbove, runsOfSession }: Pick<Context, "env" | "place" | "runsAbove" | "runsOfSession">,
): Promise<void> {
  const isPerson = !env["ASKD_RUN"] && runsAbove().length === 0 && (await runsOfSession(place.stateDir)).length === 0;
  if (isPerson) return;
  throw new Refusal("not_permitted", `An agent may not ${what}`, { hint: "Run this in your own terminal" });
}

/** The run of this process, from the environment that askd started the agent with. */
export function findOwnRun({ env }: Pick<UserContext, "env">): RunId | undefined {
  const text = env["ASKD_RUN"];
  if (!text) return undefined;
  const parsed = RunId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", "ASKD_RUN is not the id of a run", { hint: "Unset it, or set it to r_…" });
}
