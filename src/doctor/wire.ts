import { join } from "node:path";
import type { Instant } from "../core/instant.ts";
import { applyPlans } from "../setup/apply.ts";
import type { Around, Client, Scope } from "../setup/client.ts";
import { planClients } from "../setup/plan.ts";

/** Makes the settings of a client in one scope say what they should; `askd init --undo` takes that back. */
export async function wire(
  client: Client,
  scope: Scope,
  { around, stateDir, now }: { around: Around; stateDir: string; now: Instant },
): Promise<void> {
  const plans = await planClients([{ client, scope }], around);
  const unfit = plans.find(({ problem }) => problem !== undefined);
  if (unfit?.problem) throw new Error(`${unfit.file} is left alone: ${unfit.problem.why}`);
  const { failed } = await applyPlans(plans, { root: join(stateDir, "init"), now, dir: around.dir });
  const [first] = failed;
  if (first) throw new Error(`${first.plan.file}: ${first.why}`);
}
