import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS, aRun } from "../../../test/builders.ts";
import { makeSilent } from "../../../test/machines.ts";
import { until } from "../../../test/run-dir.ts";
import { ROOMY } from "../../../test/scene.ts";
import { openEngine } from "../../app.ts";
import { HOUR_MS } from "../../core/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import { AGENTS } from "../agents.ts";
import { prepareSessionCopy, findSessionCopy } from "./session-copy.ts";
import { findMachineId, ensureMachineId } from "./machine-id.ts";
import { findIdentity } from "../process/process-identity.ts";
import { findKeptLaunch, saveLaunch, makeRunDir, runDirOf } from "./run-files.ts";

const SESSION = "5e551011-0000-4000-8000-000000000000";

let root = "";
let env: Record<string, string>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "askd-elsewhere-"));
  const claude = join(root, "bin", "claude");
  mkdirSync(dirname(claude));
  writeFileSync(claude, "#!/bin/sh\n");
  chmodSync(claude, 0o755);
  env = { PATH: join(root, "bin"), HOME: root, ANTHROPIC_API_KEY: "sk-1" };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A run of Claude Code that was parked on another machine, in a directory that is here too. */
const parked = () =>
  aRun({ agent: "claude", host: "build-7~3fa91c", status: "resuming", session: SESSION, dir: join(root, "bin") });

/** Puts the agent's own record of the session where it keeps it. */
function carrySession(): void {
  const mangled = join(root, "bin").replaceAll(/[^a-zA-Z0-9]/g, "-");
  const file = join(root, ".claude", "projects", mangled, `${SESSION}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ type: "user", message: { role: "user", content: "Add caching" } })}\n`);
}

test("a session that was carried along is gone on with, in the environment of whoever says so", async () => {
  const at = { agents: AGENTS, stateDir: join(root, "state"), env };
  const run = parked();
  carrySession();
  expect(await prepareSessionCopy(run, at)).toMatchObject({ has: "session" });
  const launch = await findKeptLaunch(runDirOf(at.stateDir, run.id));
  expect(launch).toMatchObject({ program: join(root, "bin", "claude"), env: { ANTHROPIC_API_KEY: "sk-1" } });
});

test("what the run was started with is enough for a new session", async () => {
  const at = { agents: AGENTS, stateDir: join(root, "state"), env };
  const run = parked();
  const launch = { agent: "claude", program: join(root, "bin", "claude"), args: [], prompt: "Add caching" };
  await saveLaunch(await makeRunDir(at.stateDir, run.id), { ...launch, dir: join(root, "bin"), env, options: {} });
  expect(await findSessionCopy(run, at)).toMatchObject({ has: "launch", launch: { prompt: "Add caching" } });
});

test("what is missing is said", async () => {
  const at = { agents: AGENTS, stateDir: join(root, "state"), env };
  const missing = async (run = parked(), over: Partial<typeof at> = {}): Promise<unknown> =>
    findSessionCopy(run, { ...at, ...over });
  expect(await missing()).toEqual({
    missing: `neither its session ${SESSION} nor its launch record is here`,
  });
  expect(await missing({ ...parked(), session: undefined })).toEqual({
    missing: "its launch record is not here",
  });
  expect(await missing({ ...parked(), dir: "/nowhere" })).toEqual({ missing: "its directory /nowhere is not here" });
  expect(await missing({ ...parked(), agent: "hal" })).toEqual({ missing: 'no agent "hal" is known here' });
  expect(await missing(parked(), { env: { ...env, PATH: "/nowhere" } })).toEqual({
    missing: 'There is no program "claude" on the path',
  });
  await expect(prepareSessionCopy(parked(), at)).rejects.toMatchObject({ code: "not_found" });
});

test("an agent that is alive on a machine whose run went on elsewhere is ended when that machine is back", async () => {
  const file = join(root, "askd.db");
  const stateDir = join(root, "state");
  const host = ensureMachineId(stateDir);
  const runs = { stateDir, askd: ["askd"], env: {}, note: () => undefined };
  const open = (): Promise<Engine> => openEngine({ store: { kind: "sqlite", file }, rules: ROOMY, runs });
  const id = IDS.run();
  const launch = { agent: "command", program: "/bin/sh", args: ["-c", "echo $$ > agent.pid; exec sleep 600"] };
  await saveLaunch(await makeRunDir(stateDir, id), {
    ...launch,
    dir: root,
    env: { PATH: "/usr/bin:/bin" },
    options: {},
  });

  const before = await open();
  await before.createRun({ id, agent: "command", host, dir: root, giveBack: "worker" }, AGENT);
  void before.work();
  const pid = await until("the agent runs", () => {
    const text = readText(join(root, "agent.pid"));
    return text.endsWith("\n") ? Number(text) : undefined;
  });
  onTestFinished(() => endQuietly(pid));
  await before.stop();
  await makeSilent(file, HOUR_MS);

  const elsewhere = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
  onTestFinished(() => elsewhere.stop());
  const moved = await elsewhere.resumeRun(id, ADA, { host: "desk~77aa01" });
  expect(moved).toMatchObject({ host: "desk~77aa01", status: "resuming" });
  expect(await findIdentity(pid)).toBeDefined();

  const back = await open();
  onTestFinished(() => back.stop());
  expect(findMachineId(stateDir)).toBe(host);
  void back.work();
  await until("the agent is gone", async () => (await findIdentity(pid)) === undefined);
  expect(await elsewhere.findRun(id)).toMatchObject({ status: "resuming", host: "desk~77aa01", epoch: moved.epoch });
});

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone, as it should be.
  }
}
