// The working tree of a job: its changes as a patch, and back.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MOST_BYTES = 64 * 1024 * 1024;
const STAT_CHARS = 2_000;

/** The changes since the last commit, new files among them; undefined where there is no repository. */
export function readChanges(env) {
  const folder = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "askd-"));
  // An index of our own: what the job has staged stays as it is.
  const git = (...args) => run(env, args, { GIT_INDEX_FILE: join(folder, "index") });
  try {
    git("read-tree", "HEAD");
    git("add", "--all");
    const patch = git("diff", "--cached", "--binary", "HEAD");
    const stat = git("diff", "--cached", "--stat", "HEAD").trim().slice(0, STAT_CHARS);
    return { patch, stat, base: git("rev-parse", "HEAD").trim() };
  } catch {
    return undefined; // no repository, or none with a commit
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Brings changes back; returns the file they are in if they do not fit any more. */
export function applyChanges(env, patch) {
  if (patch === "") return undefined;
  const file = join(mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "askd-")), "work.patch");
  writeFileSync(file, patch);
  try {
    run(env, ["apply", "--whitespace=nowarn", file]);
    return undefined;
  } catch {
    return file;
  }
}

function run(env, args, more = {}) {
  return execFileSync("git", args, {
    cwd: env.GITHUB_WORKSPACE || ".",
    env: { PATH: env.PATH, HOME: env.HOME, LC_ALL: "C", ...more },
    encoding: "utf8",
    maxBuffer: MOST_BYTES,
    stdio: ["ignore", "pipe", "ignore"],
  });
}
