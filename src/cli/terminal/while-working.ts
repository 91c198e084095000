import type { Engine } from "../../engine/engine.ts";

/** Does what falls due while something else goes on; comes back with that, or with the failure of the work. */
export async function whileWorking<Result>(engine: Engine, goOn: () => Promise<Result>): Promise<Result> {
  const failed = engine.work().then(() => new Promise<never>(() => undefined)); // it ends only when stopped
  return Promise.race([goOn(), failed]);
}
