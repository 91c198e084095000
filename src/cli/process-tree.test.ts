import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { ROOMY, Scene, said } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { startProcess, waitForProcessEnd } from "../agents/process/process.ts";
import { makeRunDir } from "../agents/runner/run-files.ts";
import { openEngine } from "../app.ts";
import { runsAbove } from "./process.ts";

const ASKD = resolve("bin", "askd");

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-above-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("the runs of the processes above are found, whatever their programs are called", () => {
  const files: Record<string, string> = {
    "/proc/9/stat": "9 (node) S 8 9 9 0",
    "/proc/8/stat": "8 (a) b) (c) S 7 8 8 0",
    "/proc/8/environ": "PATH=/bin\0NOT_ASKD_RUN=no\0",
    "/proc/7/stat": "7 (claude) S 1 7 7 0",
    "/proc/7/environ": "ASKD_RUN=r_agent\0PATH=/bin\0",
    "/proc/1/environ": "ASKD_RUN=r_init\0",
  };
  expect(runsAbove(9, (path) => files[path])).toEqual(["r_agent"]);
  expect(runsAbove(4, () => "4 (loop) S 4 4 4 0")).toEqual([]);
  expect(runsAbove(9, () => undefined)).toEqual([]);
});

test("below a live agent nobody answers or makes tokens, and below one that is over a person does", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input(), { ...AGENT, runId: run.id }, { runId: run.id });
  const below = { runsAbove: () => ["r_1", run.id] };
  expect((await type(scene, ["answer", question.id, "1"], below)).exit).toBe(7);
  expect((await type(scene, ["token", "create", "--subject", "ada", "--scope", "human"], below)).exit).toBe(7);
  await scene.engine.cancel(question.id, { resume: "go on" }, { ...AGENT, scope: "human" });
  const next = await scene.ask();
  await scene.engine.cancelRun(run.id, { ...AGENT, scope: "human" });
  expect((await type(scene, ["answer", next.question.id, "1"], below)).exit).toBe(0);
});

test("below a live agent nobody copies or seals the whole store", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.ask();
  const below = { runsAbove: () => [run.id] };
  const [file, seals] = [join(home, "copy.db"), join(home, "seals.jsonl")];
  for (const args of [
    ["backup", file],
    ["export", "-o", file],
    ["audit", "--seal-to", seals],
  ]) {
    const { exit, stderr } = await type(scene, args, below);
    expect([exit, stderr]).toEqual([7, expect.stringContaining("An agent cannot maintain the store")]);
  }
  expect([existsSync(file), existsSync(seals)]).toEqual([false, false]);
});

test("below a live agent nobody stops, repairs or becomes the server and the worker", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const [inEnv, below] = [{ env: { ASKD_RUN: run.id }, isSessionLeader: () => true }, { runsAbove: () => [run.id] }];
  for (const argv of [
    "service stop",
    "service start",
    "service uninstall",
    "doctor --fix",
    "worker",
    "serve --port 0",
  ]) {
    for (const around of [inEnv, below]) {
      const { exit, stderr } = await type(scene, argv.split(" "), around);
      expect([argv, exit, stderr]).toEqual([argv, 7, expect.stringContaining("An agent cannot maintain the store")]);
    }
  }
  expect((await type(scene, ["service", "status"], below)).exit).toBe(3);
});

test("a worker that askd starts in the background for an agent's question is not the agent's", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const detached = { runsAbove: () => [run.id], isSessionLeader: () => true };
  // A worker of the store is there, so this one exits.
  const { exit, stderr } = await type(scene, ["worker"], { ...detached, lock: () => Promise.resolve(undefined) });
  expect([exit, stderr]).toEqual([0, expect.stringContaining("already running")]);
});

test.runIf(process.platform === "linux")("an agent that names another run as its own is refused", async () => {
  const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
  try {
    const started = async (name: string) => {
      const { id } = await engine.createRun({ name, agent: "claude", giveBack: "worker" }, AGENT);
      await engine.startRun(id, AGENT);
      return id;
    };
    const [own, other] = [await started("own"), await started("other")];
    const { question } = await engine.ask(new Scene().input(), { ...AGENT, runId: other }, { runId: other });
    const commands = [`cancel ${question.id}`, `ask "Cat or dog?" --option cat`];
    // The second shell has the other run in its environment, as if it were its agent.
    const lines = commands.map((command) => `"$0" "$1" ${command} >&2; echo $?`);
    const script = `export ASKD_RUN=${other}; ${lines.join("; ")}; /bin/sh -c '${lines[0]}; true' "$0" "$1"`;
    const env = { PATH: process.env["PATH"], ASKD_HOME: home, ASKD_RUN: own };
    const { out, said } = await new Promise<{ out: string; said: string }>((done) => {
      execFile("/bin/sh", ["-c", script, process.execPath, ASKD], { env }, (_error, out, said) => done({ out, said }));
    });
    expect(out.trim().split("\n")).toEqual(["7", "7", "7"]);
    expect(said).toContain(`This process belongs to the run ${own}, and ASKD_RUN names another`);
    expect((await engine.read(question.id)).question.status).toBe("pending");
  } finally {
    await engine.stop();
  }
});

test.runIf(process.platform === "linux")(
  "an agent that takes its run out of its shell is refused all the same, and that it tried is in the trail",
  async () => {
    const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
    try {
      const { id: runId } = await engine.createRun({ name: "add-caching", agent: "claude", giveBack: "worker" }, AGENT);
      await engine.startRun(runId, AGENT);
      const input = new Scene().input();
      const { question } = await engine.ask(input, { ...AGENT, runId }, { runId });
      // The shell stays above what it starts, as a command follows.
      const script = `env -u ASKD_RUN "$0" "$1" answer ${question.id} 1; code=$?; exit $code`;
      const env = { PATH: process.env["PATH"], ASKD_HOME: home, ASKD_RUN: runId };
      const exit = await new Promise((done) => {
        execFile("/bin/sh", ["-c", script, process.execPath, ASKD], { env }, (error) => done(error?.code ?? 0));
      });
      expect(exit).toBe(7);
      expect((await engine.read(question.id)).question.status).toBe("pending");
      const { event } = (await engine.readChain(runId)).at(-1)!;
      expect(event).toMatchObject({ type: "question.refused", by: { scope: "agent", channel: "cli", runId } });
      await engine.answer(question.id, said("1"), { ...AGENT, scope: "human", strength: "local" });
      expect((await engine.verify()).problems).toEqual([]);
    } finally {
      await engine.stop();
    }
  },
);

test.runIf(process.platform === "linux")(
  "a background process that an agent leaves behind is refused, also after the agent and its run have ended",
  async () => {
    const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
    try {
      const { id: runId } = await engine.createRun({ name: "add-caching", agent: "claude", giveBack: "worker" }, AGENT);
      await engine.startRun(runId, AGENT);
      const { question } = await engine.ask(new Scene().input(), AGENT);
      const runDir = await makeRunDir(join(home, "state"), runId);
      const left = join(home, "left");
      const ended = join(home, "ended");
      // Its parent is gone, it hides its run, and it waits until the run is over.
      const typed = `while [ ! -e ${ended} ]; do sleep 0.1; done; "$0" "$1" answer ${question.id} 1; echo $? >${left}.new; mv ${left}.new ${left}`;
      const script = `(env -u ASKD_RUN -u ASKD_EPOCH /bin/sh -c '${typed}' "$0" "$1" &)`;
      const env = { PATH: process.env["PATH"] ?? "", ASKD_HOME: home };
      const argv = ["/bin/sh", "-c", script, process.execPath, ASKD];
      const nothing = { env: {}, files: [], stdin: undefined, session: undefined, added: [] };
      const start = { ...nothing, argv, prints: "lines" } as const;
      await startProcess({ runId, epoch: 1, runDir, dir: home, env, start });
      await waitForProcessEnd(runDir, 1);
      await engine.cancelRun(runId, { ...AGENT, scope: "human" });
      writeFileSync(ended, "");
      await expect.poll(() => existsSync(left), { timeout: 60_000 }).toBe(true);
      expect(readFileSync(left, "utf8")).toBe("7\n");
      expect((await engine.read(question.id)).question.status).toBe("pending");
      const { event } = (await engine.readChain(question.runId)).at(-1)!;
      expect(event).toMatchObject({ type: "question.refused", by: { scope: "agent", channel: "cli", runId } });
    } finally {
      await engine.stop();
    }
  },
  90_000,
);
