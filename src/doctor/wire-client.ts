import { join } from "node:path";
import type { Instant } from "../core/instant.ts";
import { applyPlans } from "../setup/apply.ts";
import type { ClientSurroundings, Client, Scope } from "../agents/wiring.ts";
import { isChange, planClients } from "../setup/plan.ts";

/**
 * Writes the desired settings of a client in one scope; `askd init --undo` reverts them. Settings a person changed
 * stay.
 */
export async function wireClient(
  client: Client,
  scope: Scope,
  { around, stateDir, now }: { around: ClientSurroundings; stateDir: string; now: Instant },
): Promise<void> {
  const plans = await planClients([{ client, scope }], around);
  const unfit = plans.find(({ problem }) => problem !== undefined);
  if (unfit?.problem) throw new Error(`${unfit.file} is left alone: ${unfit.problem.why}`);
  if (!plans.some(isChange)) {
    const files = plans.map(({ file }) => file).join(" and ");
    throw new Error(`it was set so on purpose; change it yourself in ${files}`);
  }
  const { failed } = await applyPlans(plans, { root: join(stateDir, "init"), now, dir: around.dir });
  const [first] = failed;
  if (first) throw new Error(`${first.plan.file}: ${first.why}`);
}
