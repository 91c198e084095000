import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A project in git with one workflow, and a bare repository as its remote. */
export function aGitProject(name: string, yaml: string) {
  const root = mkdtempSync(join(tmpdir(), "askd-project-"));
  const bare = join(root, "remote.git");
  const project = join(root, "project");
  const git = (dir: string, ...args: string[]) => execFileSync("git", args, { cwd: dir, encoding: "utf8" });
  git(root, "init", "--quiet", "--bare", "--initial-branch=main", bare);
  git(root, "init", "--quiet", "--initial-branch=main", project);
  const folder = join(project, ".askd", "workflows");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, yaml);
  git(project, "add", "--all");
  git(project, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "-m", "Begin");
  git(project, "remote", "add", "origin", bare);
  git(project, "push", "--quiet", "origin", "main");
  return { root, bare, project, file, git };
}
