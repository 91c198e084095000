import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { aGitProject } from "../../../test/workflow/git-project.ts";
import { openRunTree, publishRunTree } from "./run-tree.ts";

function aProject() {
  const made = aGitProject("w.yml", "name: w\nsteps: []\n");
  onTestFinished(() => rmSync(made.root, { recursive: true, force: true }));
  return made;
}

test("a run's tree has the settings of agents that nobody has committed, and never commits them", async () => {
  const { bare, project, git } = aProject();
  mkdirSync(join(project, ".claude"));
  writeFileSync(join(project, ".claude", "settings.local.json"), "{}");
  writeFileSync(join(project, ".mcp.json"), '{"mcpServers":{}}');
  const tree = await openRunTree(project, "w-one", [".mcp.json", ".claude/settings.local.json"]);
  expect(readFileSync(join(tree.dir, ".claude", "settings.local.json"), "utf8")).toBe("{}");
  expect(readFileSync(join(tree.dir, ".mcp.json"), "utf8")).toBe('{"mcpServers":{}}');
  writeFileSync(join(tree.dir, "a.txt"), "one\n");
  expect(await publishRunTree(tree, "One")).toBe(true);
  expect(git(bare, "diff", "--name-only", "main", "askd/w-one")).toBe("a.txt\n");
});

test("a tree whose process died before it had the settings gets them when it is opened again", async () => {
  const { project, git } = aProject();
  writeFileSync(join(project, ".mcp.json"), "{}");
  const { dir } = await openRunTree(project, "w-one", [".mcp.json"]);
  rmSync(join(dir, ".mcp.json"));
  git(project, "update-ref", "-d", "refs/askd/ready/w-one");
  await openRunTree(project, "w-one", [".mcp.json"]);
  expect(existsSync(join(dir, ".mcp.json"))).toBe(true);
  rmSync(join(dir, ".mcp.json"));
  await openRunTree(project, "w-one", [".mcp.json"]);
  expect(existsSync(join(dir, ".mcp.json"))).toBe(false); // the run removed it
});
