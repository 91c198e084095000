import { afterAnswer, findAway } from "../../core/run/machine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { Frame } from "../../web/parts/layout.tsx";
import type { PagesDeps } from "./deps.ts";

/** An answer that can still be taken back, with the machine that its run will wait for, where that is away. */
export async function withAway(
  { engine, here }: Pick<PagesDeps, "engine" | "here">,
  settling: Frame["settling"],
): Promise<Frame["settling"]> {
  // Of the run only its names are sure to be new here.
  const now = settling && (await engine.findRun(settling.run.id));
  if (!now || settling.question.settling?.isHeldBack) return settling;
  const run = afterAnswer(now);
  return { ...settling, away: findAway(run, await readMachines(engine, [run], here?.())) };
}
