import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import { DAY_MS, msBetween } from "../../core/instant.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import { createPrivateFile, findFileText } from "../process/private-file.ts";
import { removeRunTree } from "../workspace/run-tree.ts";

/** How long the tree of a workflow run stays after its end. */
const KEPT_MS = 14 * DAY_MS;
const NAME = /^[\w.-]{1,200}$/;

/** The record of a tree: which run it was made for, and in which project. */
const TreeRecord = z.object({ runId: RunId, dir: z.string() });

/** Remembers the tree of a run, so that it can be removed after the run has ended. */
export async function rememberTree(stateDir: string, name: string, { id: runId, dir = "/" }: Run): Promise<void> {
  const folder = join(stateDir, "trees");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await createPrivateFile(join(folder, name), JSON.stringify({ runId, dir }));
}

/** Removes trees of workflow runs that ended long ago; one with work that is nowhere else stays. */
export async function removeOldTrees(
  stateDir: string,
  { store }: { store: Pick<Store, "findRun" | "now"> },
): Promise<void> {
  const folder = join(stateDir, "trees");
  for (const name of await readdir(folder).catch(() => [])) {
    const text = NAME.test(name) ? await findFileText(join(folder, name)) : undefined;
    const record = text === undefined ? undefined : TreeRecord.parse(JSON.parse(text));
    const run = record && (await findRoot(record.runId, store));
    if (!record || !run || !hasEnded(run) || run.endedAt === undefined) continue;
    if (msBetween(run.endedAt, await store.now()) < KEPT_MS) continue;
    if (await removeRunTree(record.dir, name)) await rm(join(folder, name), { force: true });
  }
}

/** The whole run: its branches share its tree. */
async function findRoot(id: RunId, store: Pick<Store, "findRun">): Promise<Run | undefined> {
  const run = await store.findRun(id);
  return run?.workflow?.branch && run.parentId ? findRoot(run.parentId, store) : run;
}
