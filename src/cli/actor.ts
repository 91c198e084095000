import type { Actor } from "../core/people/actor.ts";
import { RunId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { findKnownRun, findLiveRun } from "../engine/live-run.ts";
import type { Context } from "./context.ts";

type Around = Pick<Context, "env" | "user">;
type Typing = Around & Pick<Context, "runsAbove" | "runsOfSession" | "place">;

/** The actor of this command: the user of this machine, unless an agent's run started it, however far above or long ago. */
export async function whoTypes(engine: Pick<Engine, "findRun">, context: Typing): Promise<Actor> {
  const runId =
    findOwnRun(context) ??
    (await findLiveRun(engine, context.runsAbove())) ??
    (await findKnownRun(engine, await context.runsOfSession(context.place.stateDir)));
  if (runId) return { ...whoAsks(context), runId };
  return { scope: "human", id: context.user, channel: "cli", strength: "local" };
}

/** The actor who manages tokens and people: the user as an admin; an agent stays an agent. */
export async function whoManages(engine: Pick<Engine, "findRun">, context: Typing): Promise<Actor> {
  const by = await whoTypes(engine, context);
  return by.scope === "agent" ? by : { ...by, scope: "admin" };
}

/** The actor who asks: a program, with its own run if it has one. */
export function whoAsks(context: Around): Actor {
  const runId = findOwnRun(context);
  const id = context.env["ASKD_AGENT"] || context.user;
  return { scope: "agent", id, channel: "cli", strength: "none", ...(runId && { runId }) };
}

/** The run of this process, from the environment that askd started the agent with. */
export function findOwnRun({ env }: Pick<Around, "env">): RunId | undefined {
  const text = env["ASKD_RUN"];
  if (!text) return undefined;
  const parsed = RunId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", "ASKD_RUN is not the id of a run", { hint: "Unset it, or set it to r_…" });
}
