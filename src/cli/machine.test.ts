import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { beat } from "../../test/machines.ts";
import { Scene } from "../../test/scene.ts";
import { type Typed, type } from "../../test/typed.ts";
import { HOUR_MS } from "../core/instant.ts";

const BUILD = "build-7~3fa91c";
const WAYS = [
  "Bring it back: run askd worker on build-7",
  "Or continue on another machine with this store: askd runs resume 1 --elsewhere",
  "Or cancel it: askd runs cancel 1",
];

/** Types on a machine, build-7 or another one. */
const typeOn = (host: string, scene: Scene, ...argv: string[]): Promise<Typed> =>
  type(scene, argv, { hostIn: () => Promise.resolve(host), env: { ASKD_NO_SERVICE: "1" } });

/** A run of build-7 that was parked there three hours ago, when its worker beat last. */
async function parked(dir = "/nowhere/at/all"): Promise<Scene> {
  const scene = new Scene();
  const { id } = await scene.startedRun({ host: BUILD, session: "s-1", dir });
  await scene.engine.ask(scene.input({ timeout: "24h" }), AGENT, { runId: id });
  await scene.engine.endRun(id, { status: "completed" }, AGENT);
  await beat(scene.store, BUILD);
  await scene.pass(3 * HOUR_MS);
  return scene;
}

test("an answer on another machine is recorded, and says what the run waits for", async () => {
  const scene = await parked();
  const { exit, stdout } = await typeOn("desk", scene, "answer", "1", "Redis");
  expect(exit).toBe(0);
  const [first, ...next] = stdout.trimEnd().split("\n");
  expect(first).toMatch(/^✓ Answer recorded for #1 add-caching \(q-\w+\): Redis$/);
  const goesOn = "#1 continues when build-7 is back (last heard of 3h ago)";
  expect(next).toEqual([goesOn, ...WAYS].map((line) => `  ${line}`));
  expect(stdout).not.toContain("Resuming");
});

test("so does one that can still be taken back, and a correction", async () => {
  const scene = await parked();
  const { stdout } = await typeOn("desk", scene, "answer", "1", "Redis", "--undo-window", "1s");
  expect(stdout).toContain("#1 continues when build-7 is back (last heard of 3h ago)");
  expect(stdout).not.toContain("goes on in");
  await scene.pass(2_000);
  const amended = await typeOn("desk", scene, "amend", "1", "port 6380");
  expect(amended.stdout).toContain("#1 continues when build-7 is back (last heard of 3h ago)");
  expect(amended.stdout).not.toContain("gets it when it resumes");
});

test("for programs the reply names the machine", async () => {
  const scene = await parked();
  const { stdout } = await typeOn("desk", scene, "answer", "1", "Redis", "--json=run_status,machine");
  expect(JSON.parse(stdout)).toEqual({
    run_status: "resuming",
    machine: { id: BUILD, name: "build-7", heard_at: "2026-01-01T12:00:00.000Z" },
  });
  const listed = await typeOn("desk", scene, "runs", "list", "--json=machine");
  expect(JSON.parse(listed.stdout)).toMatchObject([{ machine: { name: "build-7" } }]);
});

test("status, show and runs say so for as long as it is so", async () => {
  const scene = await parked();
  expect((await typeOn("desk", scene, "status")).stdout).not.toContain("WAITING FOR A MACHINE");
  await typeOn("desk", scene, "answer", "1", "Redis");
  const says = "resuming, waits for build-7, last heard of 3h ago";
  const status = await typeOn("desk", scene, "status");
  expect(status.stdout).toContain(`WAITING FOR A MACHINE:\n  #1 add-caching (${says})\n      ${WAYS[0]}\n`);
  expect(status.stdout).not.toContain("RUNNING");
  expect((await typeOn("desk", scene, "status", "--short")).stdout).toBe("?0 ▶0\n");
  await scene.ask();
  expect((await typeOn("desk", scene, "status")).stdout).toContain("1 waiting, 1 waiting for a machine.");
  for (const argv of [
    ["show", "1"],
    ["runs", "show", "1"],
  ]) {
    const { stdout } = await typeOn("desk", scene, ...argv);
    expect(stdout).toContain(`Status: ${says}\n`);
    expect(stdout).toContain(WAYS.join("\n"));
  }
  expect((await typeOn("desk", scene, "runs", "list")).stdout).toContain(says);
  await beat(scene.store, BUILD);
  expect((await typeOn("desk", scene, "status")).stdout).toContain("RUNNING:\n  #1 add-caching (resuming)");
});

test("runs resume promises nothing that the machine has to keep", async () => {
  const scene = await parked();
  await typeOn("desk", scene, "answer", "1", "Redis", "--no-resume");
  const { stdout } = await typeOn("desk", scene, "runs", "resume", "1");
  expect(stdout).toBe(
    `✓ #1 add-caching will resume, but waits for build-7, last heard of 3h ago\n  ${WAYS.join("\n  ")}\n`,
  );
});

test("runs resume of a run that was not even started names the ways out", async () => {
  const scene = await parked();
  await scene.engine.createRun({ name: "fix-auth", agent: "claude", host: BUILD, giveBack: "worker" }, AGENT);
  const { exit, stderr } = await typeOn("desk", scene, "runs", "resume", "2");
  expect(exit).toBe(6);
  const ways = WAYS.map((way) => way.replace(/1(?= |$)/, "2"));
  expect(stderr).toBe(`error: Run #2 is queued, and waits for build-7, last heard of 3h ago\n  ${ways.join("\n  ")}\n`);
});

test("an answer that is only stored waits for a person, not for the machine", async () => {
  const scene = await parked();
  for (const undo of ["1s", "0s"]) {
    const { stdout } = await typeOn("desk", scene, "answer", "1", "Redis", "--no-resume", "--undo-window", undo);
    expect(stdout).not.toMatch(/goes on|build-7/);
    if (undo !== "0s") await typeOn("desk", scene, "undo", "1");
  }
  expect((await typeOn("desk", scene, "status")).stdout).not.toContain("WAITING FOR A MACHINE");
  const taken = await typeOn("desk", scene, "takeover", "1");
  expect(taken.stderr).toContain("The session of #1 is on build-7, which is away");
});

test("a question that is withdrawn with a note says so, too, and so does the tree", async () => {
  const scene = await parked();
  const { stdout } = await typeOn("desk", scene, "cancel", "1", "--resume", "decide yourself");
  const goesOn = "#1 continues when build-7 is back (last heard of 3h ago)";
  expect(stdout).toContain(`is cancelled; the run is resuming\n  ${[goesOn, ...WAYS].join("\n  ")}\n`);
  const tree = await typeOn("desk", scene, "tree");
  expect(tree.stdout).toContain("[resuming, waits for build-7, last heard of 3h ago]");
});

test("on the machine itself nothing is stranded, and nothing is said", async () => {
  const scene = await parked();
  const answered = await typeOn(BUILD, scene, "answer", "1", "Redis");
  expect(answered.stdout).toContain("Resuming with Claude");
  expect((await typeOn(BUILD, scene, "status")).stdout).toContain("RUNNING:\n  #1 add-caching (resuming)");
});

test("against a server it is said on the machine itself, too: no worker is started there", async () => {
  const scene = await parked();
  const env = { ASKD_URL: "http://127.0.0.1:4319", ASKD_TOKEN: "t" };
  const { stdout } = await type(scene, ["answer", "1", "Redis"], { hostIn: () => Promise.resolve(BUILD), env });
  expect(stdout).toContain("#1 continues when build-7 is back");
});

test("elsewhere is refused with what is missing, and while its machine is there", async () => {
  const scene = await parked();
  await typeOn("desk", scene, "answer", "1", "Redis");
  const missing = await typeOn("desk", scene, "runs", "resume", "1", "--elsewhere");
  expect(missing.exit).toBe(5);
  expect(missing.stderr).toBe(
    "error: Run #1 cannot continue here: its directory /nowhere/at/all is not here\n" +
      "  Bring build-7 back, copy what is missing from it, or cancel the run: askd runs cancel 1\n",
  );
  const taken = await typeOn("desk", scene, "takeover", "1");
  expect(taken.exit).toBe(5);
  expect(taken.stderr).toContain("The session of #1 is on build-7, which is away");
  await beat(scene.store, BUILD);
  const there = await typeOn("desk", scene, "runs", "resume", "1", "--elsewhere");
  expect(there.stderr).toContain("error: Run #1 belongs to build-7, which sent its last heartbeat 0s ago");
  expect(there.exit).toBe(6);
});

test("a session that was carried here is offered to go on with by hand, and taken over", async () => {
  const home = mkdtempSync(join(tmpdir(), "askd-carried-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const claude = join(home, "claude");
  writeFileSync(claude, "#!/bin/sh\n", { mode: 0o755 });
  const record = join(home, ".claude", "projects", home.replaceAll(/[^a-zA-Z0-9]/g, "-"), "s-1.jsonl");
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, `${JSON.stringify({ type: "user", message: { role: "user", content: "Add caching" } })}\n`);
  const scene = await parked(home);
  const env = { ASKD_NO_SERVICE: "1", PATH: home, HOME: home, ASKD_HOME: home };
  const typeHere = (...argv: string[]) => type(scene, argv, { hostIn: () => Promise.resolve("desk"), env });
  await typeHere("answer", "1", "Redis");
  expect((await typeHere("show", "1")).stdout).toContain(
    "Its session is on this machine. Continue it yourself: askd takeover 1\n",
  );
  const { exit, stdout, stderr } = await typeHere("takeover", "1");
  expect(exit).toBe(0);
  expect(stdout).toBe(`cd ${home} && claude --resume s-1\n`);
  expect(stderr).toContain("when build-7 is back, it also starts the agent");
  const moved = await typeHere("runs", "resume", "1", "--elsewhere");
  expect(moved.stdout).toBe("✓ #1 add-caching continues on this machine; it is resuming (it was on build-7)\n");
});
