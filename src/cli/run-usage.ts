import type { Run } from "../core/run/run.ts";
import type { UsageRow } from "../core/run/usage.ts";
import type { Engine } from "../engine/engine.ts";

/** The usage of these runs by run id. */
export async function readUsage(
  engine: Engine,
  runs: ReadonlyArray<Pick<Run, "id">>,
): Promise<ReadonlyMap<string, UsageRow>> {
  if (runs.length === 0) return new Map();
  const used = await engine.usageOf(runs.map(({ id }) => id));
  return new Map(used.map((usage) => [usage.runId, usage]));
}
