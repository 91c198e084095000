import { relative } from "node:path";
import { readConfig, writeConfig } from "./config-file.ts";
import { keepRecord } from "./undo.ts";
import { type FilePlan, isChange } from "./plan.ts";
import { Unfit } from "../edit/change.ts";

const SHARED_MODE = 0o644;
const PRIVATE_MODE = 0o600;

/** The files that were written, and those that failed. */
export interface AppliedPlan {
  done: FilePlan[];
  failed: Array<{ plan: FilePlan; why: string }>;
}

/** Carries out plans, each file by itself: one that cannot be written keeps no other from it. */
export async function applyPlans(
  plans: readonly FilePlan[],
  at: { root: string; now: string; dir: string },
): Promise<AppliedPlan> {
  const due = plans.filter(isChange);
  const applied: AppliedPlan = { done: [], failed: [] };
  if (due.length === 0) return applied;
  await keepRecord(at.root, due, at);
  for (const plan of due) {
    const why = await write(plan, at.dir);
    if (why === undefined) applied.done.push(plan);
    else applied.failed.push({ plan, why });
  }
  return applied;
}

async function write({ file, real, before, after }: FilePlan, dir: string): Promise<string | undefined> {
  try {
    const now = (await readConfig(file)).bytes;
    const isSame = now === undefined || before === undefined ? now === before : now.equals(before);
    if (!isSame) return "it was changed meanwhile; type askd init again";
    const isShared = !relative(dir, real).startsWith("..");
    await writeConfig(real, after ?? Buffer.alloc(0), isShared ? SHARED_MODE : PRIVATE_MODE);
    return undefined;
  } catch (error) {
    if (error instanceof Unfit) return error.message;
    if (error instanceof Error && "code" in error) return `it cannot be written (${String(error.code)})`;
    throw error;
  }
}
