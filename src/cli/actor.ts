import type { Actor } from "../core/people/actor.ts";
import { RunId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { findLiveRun } from "../engine/live-run.ts";
import type { Context } from "./context.ts";

type Around = Pick<Context, "env" | "user">;
type Typing = Around & Pick<Context, "runsAbove">;

/** Who types this command: the user of this machine, unless an agent's run started it, however far above. */
export async function whoTypes(engine: Pick<Engine, "findRun">, context: Typing): Promise<Actor> {
  const runId = findOwnRun(context) ?? (await findLiveRun(engine, context.runsAbove()));
  if (runId) return { ...whoAsks(context), runId };
  return { scope: "human", id: context.user, channel: "cli", strength: "local" };
}

/** Who looks after tokens: whoever has the store, but never an agent in its run. */
export async function whoManages(engine: Pick<Engine, "findRun">, context: Typing): Promise<Actor> {
  const by = await whoTypes(engine, context);
  return by.scope === "agent" ? by : { ...by, scope: "admin" };
}

/** Who asks: a program, in its own run where it has one. */
export function whoAsks(context: Around): Actor {
  const runId = findOwnRun(context);
  const id = context.env["ASKD_AGENT"] || context.user;
  return { scope: "agent", id, channel: "cli", strength: "none", ...(runId && { runId }) };
}

/** The run that this process belongs to, as askd told it when it started the agent. */
export function findOwnRun({ env }: Pick<Around, "env">): RunId | undefined {
  const text = env["ASKD_RUN"];
  if (!text) return undefined;
  const parsed = RunId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", "ASKD_RUN does not hold the id of a run", { hint: "Unset it, or set it to r_…" });
}
