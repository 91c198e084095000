import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, aRun } from "../../../test/builders.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { aGitProject } from "../../../test/workflow/git-project.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { DAY_MS } from "../../core/instant.ts";
import type { Run } from "../../core/run/run.ts";
import { openRunTree, publishRunTree } from "../workspace/run-tree.ts";
import { rememberTree, removeOldTrees } from "./old-tree.ts";

/** A project, and trees of workflow runs in it that were just opened. */
async function aStage() {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-trees-"));
  const { root, project, git } = aGitProject("w.yml", "name: w\nsteps: []\n");
  onTestFinished(async () => {
    await removeFolder(stateDir);
    await removeFolder(root);
  });
  const stage = new WorkflowStage();
  const workflow = await stage.approve("name: w\nsteps: [{ id: one, tool: shell, input: { argv: [one] } }]", {
    dir: project,
    file: "w.yml",
  });
  const open = async () => {
    const run = await stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
    const name = run.workflow?.tree ?? "";
    const tree = await openRunTree(project, name);
    await rememberTree(stateDir, name, run);
    return { run, ...tree };
  };
  const sweep = () => removeOldTrees(stateDir, stage);
  const branches = () => git(project, "branch", "--format=%(refname:short)").trim().split("\n");
  return { stage, project, open, sweep, branches, stateDir };
}

test("the tree and the branch of a run are removed two weeks after its end, if their work is elsewhere", async () => {
  const { stage, open, sweep, branches, project } = await aStage();
  const [idle, pushed, changed, committed] = [await open(), await open(), await open(), await open()];
  for (const { dir } of [pushed, changed]) writeFileSync(join(dir, "a.txt"), "one\n");
  writeFileSync(join(committed.dir, "a.txt"), "another\n");
  expect(await publishRunTree(pushed, "One")).toBe(true);
  await expect(publishRunTree({ ...committed, branch: "askd/nowhere:" }, "One")).rejects.toThrow("nowhere");
  const areThere = () => [idle, pushed, changed, committed].map(({ dir }) => existsSync(dir));
  await stage.doDue();
  expect((await stage.run(idle.run.id)).status).toBe("completed");
  stage.skip(13 * DAY_MS);
  await sweep();
  expect(areThere()).toEqual([true, true, true, true]);
  stage.skip(2 * DAY_MS);
  await sweep();
  expect(areThere()).toEqual([false, false, true, true]);
  expect(branches()).toEqual(expect.arrayContaining(["main", changed.branch, committed.branch]));
  expect(branches()).toHaveLength(3);
  const again = await openRunTree(project, pushed.run.workflow?.tree ?? "");
  expect(existsSync(join(again.dir, "a.txt"))).toBe(true); // it goes on from what it pushed
});

test("the tree of a live run stays, also if it was opened by a branch that has ended", async () => {
  const { stage, stateDir, project } = await aStage();
  const ref = { name: "w", definition: "hash", tree: "w-live" };
  const parent: Run = { ...aRun({ status: "awaiting_input" }), dir: project, workflow: ref };
  const branch: Run = {
    ...aRun({ status: "completed" }),
    dir: project,
    parentId: parent.id,
    endedAt: stage.now,
    workflow: { ...ref, branch: { step: "both", name: "one" } },
  };
  const runs = new Map([parent, branch].map((run) => [run.id, run]));
  const { dir } = await openRunTree(project, "w-live");
  await rememberTree(stateDir, "w-live", branch);
  stage.skip(20 * DAY_MS);
  const store = { findRun: async (id: Run["id"]) => runs.get(id), now: async () => stage.now };
  await removeOldTrees(stateDir, { store });
  expect(existsSync(dir)).toBe(true);
});
