import type { Around, Client, Scope } from "../setup/client.ts";
import { writeConfig } from "../setup/config-file.ts";
import { isChange, planClients } from "../setup/plan.ts";

const FILE_MODE = 0o600;

/** Makes the settings of a client in one scope say what they should. */
export async function wire(client: Client, scope: Scope, around: Around): Promise<void> {
  for (const plan of await planClients([{ client, scope }], around)) {
    if (plan.problem) throw new Error(`${plan.file} is left alone: ${plan.problem.why}`);
    if (isChange(plan) && plan.after) await writeConfig(plan.real, plan.after, FILE_MODE);
  }
}
