import type { Engine } from "../../engine/engine.ts";

/** Runs due jobs until `goOn` is done; returns its result, or throws if the jobs fail. */
export async function whileWorking<Result>(engine: Engine, goOn: () => Promise<Result>): Promise<Result> {
  const failed = engine.work().then(() => new Promise<never>(() => undefined)); // it ends only when stopped
  return Promise.race([goOn(), failed]);
}
