import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { ROOMY, Scene, said } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { startProcess, waitForProcessEnd } from "../agents/process/process.ts";
import { makeRunDir } from "../agents/runner/run-files.ts";
import { openEngine } from "../app.ts";
import type { WorkerId } from "../core/id.ts";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";
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
  const [file, seals] = [join(home, "copy.db"), join(home, "seals.ndjson")];
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

test("where an agent may be above unseen, nobody acts as a person, everybody looks, and a worker can be started", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const { question } = await scene.ask();
  const hidden = { seesAllAbove: () => Promise.resolve(false), mayHide: () => Promise.resolve(true) };
  const exits = async (...lines: string[]) => {
    const typed = lines.map((line) =>
      type(scene, line.split(" "), { ...hidden, lock: () => Promise.resolve(undefined) }),
    );
    return (await Promise.all(typed)).map(({ exit }) => exit);
  };
  const acts = [
    `answer ${question.id} 1`,
    `cancel ${question.id}`,
    `claim ${question.id}`,
    "user add eve",
    "backup x.db",
  ];
  expect(await exits(`claim ${question.id}`)).toEqual([0]);
  await scene.store.commit({ runs: [{ ...(await scene.engine.findRun(run.id))!, worker: "w_1" as WorkerId }] });
  expect(await exits(...acts)).toEqual([7, 7, 7, 7, 7]);
  expect(await exits("status", `show ${question.id}`, "worker")).toEqual([0, 0, 0]);
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

/** Ways to hide the processes above a command from it; each runs the command that follows. */
const HIDING: Record<string, string[]> = {
  "in a namespace of users": ["unshare", "-Ur"],
  "in a namespace of processes, with the /proc of the one above": ["unshare", "-Ur", "--pid", "--fork"],
  "in a namespace of processes with its own /proc": ["unshare", "-Ur", "--pid", "--fork", "--mount-proc"],
  "in one whose clock makes it look old": ["unshare", "-UrT", "--boottime", "-60", "--pid", "--fork", "--mount-proc"],
  "behind an empty /proc": behind("mount -t tmpfs none /proc"),
  "behind files of /proc of its own": behind("mount --bind /dev/null /proc/$PPID/environ"),
};

/** In a namespace in which something else is mounted. */
function behind(mount: string): string[] {
  return ["unshare", "-Urm", "/bin/sh", "-c", `${mount}; "$0" "$@"; exit $?`];
}

/** Says whether this machine lets this user make such a namespace. */
function mayHideBy(argv: readonly string[]): boolean {
  return spawnSync(argv[0]!, [...argv.slice(1), "/bin/true"]).status === 0;
}

describe.runIf(process.platform === "linux")("an agent that hides the processes above it is refused", () => {
  test.each(Object.entries(HIDING).filter(([, argv]) => mayHideBy(argv)))(
    "%s",
    { timeout: 60_000 },
    async (_, hiding) => {
      const file = join(home, "data", "askd.db");
      const engine = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
      const store = await openSqliteStore(file);
      try {
        const { id: runId } = await engine.createRun(
          { name: "add-caching", agent: "claude", giveBack: "worker" },
          AGENT,
        );
        const run = await engine.startRun(runId, AGENT);
        await store.commit({ runs: [{ ...run, worker: "w_1" as WorkerId }] });
        const { question } = await engine.ask(new Scene().input(), AGENT);
        const runDir = await makeRunDir(join(home, "state"), runId);
        const quoted = hiding.map((word) => `'${word}'`).join(" ");
        // The agent itself stays above what it starts.
        const typed = `env -u ASKD_RUN -u ASKD_EPOCH ${quoted} "$0" "$1" answer ${question.id} 1 2>said; echo $? >code`;
        const env = { PATH: process.env["PATH"] ?? "", ASKD_HOME: home, ASKD_RUN: runId };
        const nothing = { env: {}, files: [], stdin: undefined, session: undefined, added: [] };
        const start = { ...nothing, argv: ["/bin/sh", "-c", typed, process.execPath, ASKD], prints: "lines" } as const;
        await startProcess({ runId, epoch: 1, runDir, dir: home, env, start });
        await waitForProcessEnd(runDir, 1);
        expect([readFileSync(join(home, "code"), "utf8"), readFileSync(join(home, "said"), "utf8")]).toEqual([
          "7\n",
          expect.stringMatching(/An agent cannot answer a question|may be above this process, out of sight/),
        ]);
        expect((await engine.read(question.id)).question.status).toBe("pending");
      } finally {
        await store.close();
        await engine.stop();
      }
    },
  );
});

const CONTAINER = ["unshare", "-Ur", "--pid", "--fork", "--mount-proc"];
test.runIf(process.platform === "linux" && mayHideBy(CONTAINER))(
  "a person in a container answers while agents work that were started after it",
  async () => {
    const file = join(home, "data", "askd.db");
    const store = await openSqliteStore(file);
    const engine = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
    try {
      const { id } = await engine.createRun({ name: "add-caching", agent: "claude", giveBack: "worker" }, AGENT);
      await store.commit({ runs: [{ ...(await engine.startRun(id, AGENT)), worker: "w_1" as WorkerId }] });
      const { question } = await engine.ask(new Scene().input(), AGENT);
      const [boot, ...fields] = [readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), "4711", "(sh)", "S"];
      const laterTicks = 10 ** 12;
      const stat = [...fields, ...Array.from({ length: 18 }, () => 0), laterTicks].join(" ");
      writeFileSync(join(await makeRunDir(join(home, "state"), id), "1.pid"), `${boot}\n${stat}\n`);
      const env = { PATH: process.env["PATH"], ASKD_HOME: home };
      const argv = [...CONTAINER.slice(1), process.execPath, ASKD, "answer", question.id, "1"];
      expect(spawnSync(CONTAINER[0]!, argv, { env }).status).toBe(0);
      expect((await engine.read(question.id)).question.status).toBe("answered");
    } finally {
      await store.close();
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
