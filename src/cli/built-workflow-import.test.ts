import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";

const YAML = `name: release
steps:
  - id: build
    tool: shell
    input:
      argv: [git, -c, user.name=Ada, -c, user.email=ada@example.com, commit, --quiet, --allow-empty, -m, Built]
  - { id: which, tool: post_question, input: { question: Which?, options: [left, right] }, suspend: true, output: choice }
  - { id: last, tool: shell, input: { argv: [git, log, "-1", "--format=%s {{ choice.answer }}"] }, output: shipped }
`;

/** No worker goes on in the background: the test says when one works. */
const OFF = { ASKD_NO_SERVICE: "1" };

function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
    cwd: dir,
    encoding: "utf8",
  });
}

/** A project in git with the workflow. */
function aProject(): BuiltScene {
  const at = new BuiltScene();
  const folder = join(at.project, ".askd", "workflows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "release.yml"), YAML);
  git(at.project, "init", "--quiet", "--initial-branch=main");
  git(at.project, "add", "--all");
  git(at.project, "commit", "--quiet", "-m", "Begin");
  return at;
}

/** Another machine with a clone of the project, and the export of a run that waits for its answer. */
async function imported(): Promise<{
  from: BuiltScene;
  there: BuiltScene;
  say: (...argv: string[]) => Promise<string>;
}> {
  const from = aProject();
  await from.typeWith(OFF, "workflow", "approve", "release");
  await from.typeWith(OFF, "workflow", "run", "release");
  await from.typeWith(OFF, "worker", "--idle", "1s");
  expect(await from.show("1")).toMatchObject({ status: "awaiting_input" });
  const there = new BuiltScene();
  git(there.project, "clone", "--quiet", "--single-branch", from.project, ".");
  const file = join(there.home, "all.ndjson");
  expect(await from.typeWith(OFF, "export", "-o", file)).toMatchObject({ exit: 0 });
  expect(await there.typeWith(OFF, "import", file)).toMatchObject({ exit: 0 });
  const say = async (...argv: string[]) => {
    const { stdout, stderr } = await there.typeWith(OFF, ...argv);
    return `${stdout.toString()}${stderr}`;
  };
  return { from, there, say };
}

const approveFirst = "askd workflow approve release";
const wayOn = "askd runs resume 1 --elsewhere";

test("an imported run of a workflow goes on here once its workflow is approved and its branch is here, as each command says", async () => {
  const { from, there, say } = await imported();
  const shown = await say("workflow", "show", "1");
  expect(shown).toContain(approveFirst);
  expect(shown).toContain(wayOn);
  const answered = await say("answer", "1", "left");
  expect(answered).toContain(approveFirst);
  expect(answered).toContain(wayOn);

  expect(await say("runs", "resume", "1", "--elsewhere")).toMatch(/no person has approved[^]*workflow approve release/);
  expect(await say("workflow", "approve", "release")).toContain("release is approved");
  const missing = await there.typeWith(OFF, "runs", "resume", "1", "--elsewhere");
  expect(missing).toMatchObject({
    exit: 5,
    stderr: expect.stringMatching(/branch askd\/release-\w+ is not in .*project/),
  });

  const tree = /askd\/release-\w+/.exec(missing.stderr)?.[0] ?? "";
  git(there.project, "fetch", "--quiet", from.project, `${tree}:${tree}`);
  expect(await say("runs", "resume", "1", "--elsewhere")).toContain("✓ #1 release continues on this machine");
  expect(await say("runs", "resume", "1", "--elsewhere")).toContain("belongs to this machine already");
  await say("worker", "--idle", "1s");
  const state = JSON.parse(await say("workflow", "show", "1", "--json")) as Record<string, unknown>;
  expect(state).toMatchObject({
    status: "completed",
    checkpoint: { data: { shipped: { stdout: "Built left\n" } } },
  });
}, 120_000);

test("an imported run that ended says after it is repeated how it goes on here", async () => {
  const { say } = await imported();
  await say("workflow", "cancel", "1");
  expect(await say("runs", "resume", "1", "--elsewhere")).toContain("askd workflow retry 1");
  const again = await say("workflow", "retry", "1", "--from", "build");
  expect(again).toContain(approveFirst);
  expect(again).toContain(wayOn);
  await say("workflow", "approve", "release");
  expect(await say("runs", "resume", "1", "--elsewhere")).toContain("continues on this machine");
  await say("worker", "--idle", "1s");
  expect(await say("workflow", "show", "1")).toMatch(/✓ build +shell +completed/);
}, 120_000);
