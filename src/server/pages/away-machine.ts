import { runAfterAnswer, findAwayMachine } from "../../core/run/machine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { PageFrame } from "../../web/parts/layout.tsx";
import type { PagesDeps } from "./deps.ts";

/** Adds the machine that the run will wait for to an answer that can be undone, if that machine is away. */
export async function withAwayMachine(
  { engine, here }: Pick<PagesDeps, "engine" | "here">,
  settling: PageFrame["settling"],
): Promise<PageFrame["settling"]> {
  // The run in `settling` may be outdated except for its names.
  const now = settling && (await engine.findRun(settling.run.id));
  if (!now || settling.question.settling?.isHeldBack) return settling;
  const run = runAfterAnswer(now);
  return { ...settling, away: findAwayMachine(run, await readMachines(engine, [run], here?.())) };
}
