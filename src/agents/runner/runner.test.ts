import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS } from "../../../test/builders.ts";
import { createDatabase, startPostgres } from "../../../test/postgres.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { until } from "../../../test/run-dir.ts";
import { ROOMY, Scene, said } from "../../../test/scene.ts";
import { engineOn, openEngine } from "../../app.ts";
import { OWNERSHIP_MS } from "../../core/run/run-ownership.ts";
import type { RunId } from "../../core/id.ts";
import { epochMs } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { LocalEngine } from "../../engine/local-engine.ts";
import type { Store } from "../../store/store.ts";
import { AGENTS } from "../agents.ts";
import { agentsByName } from "../registry.ts";
import { ensureMachineId } from "./machine-id.ts";
import { saveLaunch, makeRunDir } from "./run-files.ts";
import { Runner } from "./runner.ts";

const ENV = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

function aFolder(): string {
  const root = mkdtempSync(join(tmpdir(), "askd-runner-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return root;
}

/** A command that waits to be started by a worker whose store can fail. */
async function aQueuedRun(over: Partial<Store>, script = "exit 0") {
  const scene = new Scene();
  const stateDir = aFolder();
  const notes: string[] = [];
  const worker = IDS.worker();
  const runner = new Runner({
    worker,
    host: hostname(),
    stateDir,
    agents: agentsByName(AGENTS),
    askd: ["askd"],
    env: ENV,
    rules: ROOMY,
    liveWindowMs: 1000,
    engine: () => engine,
    note: (_run, text) => notes.push(text),
    onFailure: (_run, error) => notes.push(String(error)),
    outagePauseMs: 1,
  });
  const engine: LocalEngine = engineOn(overriding(scene.store, over), {
    rules: ROOMY,
    nowMs: () => epochMs(scene.now),
    worker,
    runner,
    onFailure: (_job, error) => notes.push(String(error)),
  });
  onTestFinished(() => engine.stop());
  const id: RunId = IDS.run();
  const launch = { agent: "command", program: "/bin/sh", args: ["-c", script], dir: stateDir, env: ENV, options: {} };
  await saveLaunch(await makeRunDir(stateDir, id), launch);
  await engine.createRun({ id, agent: "command", host: hostname(), giveBack: "worker" }, AGENT);
  const isNow = (status: string) => async () => {
    const run = await engine.findRun(id);
    return run?.status === status && run.worker === undefined ? run : undefined;
  };
  return { scene, engine, notes, id, dir: stateDir, isNow };
}

/** Writes down what each of its starts was told; the first one asks, the second fails. */
const FORGETFUL = `
n=$(ls told.* 2>/dev/null | wc -l); cat >told.$((n))
case $((n)) in
0) echo '<<ASK_HUMAN>>{"question": "Which cache?"}<</ASK_HUMAN>>' ;;
1) exit 3 ;;
esac`;

test("a command that is started again after it failed gets the correction, and what it was told before", async () => {
  const at = await aQueuedRun({}, FORGETFUL);
  await at.engine.doDue();
  const parked = await until("it has asked", at.isNow("awaiting_input"));
  await at.engine.answer(parked.pendingId!, said("Redis"), ADA);
  await at.engine.doDue();
  await until("it has failed", at.isNow("failed"));
  await at.engine.amend(parked.pendingId!, "Valkey after all", ADA);
  await at.engine.resumeRun(at.id, ADA);
  await at.engine.doDue();
  await until("it has ended", at.isNow("completed"));
  const told = (nth: number) => readFileSync(join(at.dir, `told.${nth}`), "utf8");
  expect(told(1)).toMatch(/^A person answered your question\.[^]*\nRedis\n/);
  expect(told(1)).not.toContain("Answered before");
  expect(told(2)).toMatch(
    /^A person corrected [^]*\nValkey after all\n[^]*Continue with the task\.\n\nAnswered before in this run; you may know/,
  );
  expect(told(2)).toMatch(/Answered before[^]*Question \(q_\w+\):[^]*\nRedis\n[^]*Answered by ada/);
  expect(told(2).split("Valkey after all")).toHaveLength(2);
});

test("a run whose launch record is gone fails and says so, and gets its answer once the record is back", async () => {
  const at = await aQueuedRun({}, FORGETFUL);
  await at.engine.doDue();
  const parked = await until("it has asked", at.isNow("awaiting_input"));
  const record = join(await makeRunDir(at.dir, at.id), "env.json");
  renameSync(record, `${record}.away`);
  await at.engine.answer(parked.pendingId!, said("Redis"), ADA);
  await at.engine.doDue();
  expect(await until("it has failed", at.isNow("failed"))).toMatchObject({ reason: "launch_lost", epoch: 1 });
  expect((await at.engine.read(parked.pendingId!)).question).toMatchObject({
    status: "answered",
    handover: { state: "void", reason: "launch_lost" },
  });
  renameSync(`${record}.away`, record);
  await at.engine.resumeRun(at.id, ADA);
  await at.engine.doDue();
  await until("it was started again", async () => (await at.engine.findRun(at.id))?.epoch === 2);
  await until("it was told", () => existsSync(join(at.dir, "told.1")));
  await until("it has ended", async () => (await at.engine.findRun(at.id))?.worker === undefined);
  expect(readFileSync(join(at.dir, "told.1"), "utf8")).toMatch(/\nRedis\n/);
});

test("a run of Claude Code without its launch record is not started with other options, limits and variables", async () => {
  const at = await aQueuedRun({});
  await at.engine.doDue();
  await until("the command has ended", at.isNow("completed"));
  const run = await at.engine.createRun(
    { agent: "claude", host: hostname(), giveBack: "worker", session: "5e55", dir: at.dir },
    AGENT,
  );
  const ended = await until("it has failed", async () => {
    await at.engine.doDue();
    const now = await at.engine.findRun(run.id);
    return now?.status === "failed" ? now : undefined;
  });
  expect(ended).toMatchObject({ reason: "launch_lost", epoch: 0 });
  expect(ended.result?.summary).toContain(`continue its session yourself: askd takeover ${run.number}`);
});

const shortage = (): Error => Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
const away = (): Error => new Refusal("store_unreachable", "No PostgreSQL can be reached at db:5432.");

test.each([
  ["the machine", shortage, "EMFILE: too many open files"],
  ["the store", away, "No PostgreSQL can be reached at db:5432."],
])(
  "a start that fails because of %s is tried until it works, counts for nothing, and is told of",
  async (_, fail, why) => {
    let isBroken = true;
    let tries = 0;
    const at = await aQueuedRun({
      // The usage of the run is read on the way to its start.
      findEntry: (kind, id) => {
        if (kind !== "usage" || !isBroken) return at.scene.store.findEntry(kind, id);
        tries += 1;
        throw fail();
      },
    });
    await at.engine.doDue();
    await until("it was tried more often than the ladder of an agent is long", () => tries > 8);
    await at.scene.pass(OWNERSHIP_MS);
    await at.engine.doDue();
    expect((await at.engine.findTroubles()).failing).toMatchObject([
      { kind: "carry", tries: 1, why, run: { id: at.id } },
    ]);
    expect(at.notes).toEqual([expect.stringContaining(why)]);
    isBroken = false;
    const ended = await until("the run is over", async () => {
      const run = await at.engine.findRun(at.id);
      return run?.status === "completed" && run;
    });
    expect(ended).toMatchObject({ epoch: 1 });
    await at.scene.pass(OWNERSHIP_MS);
    await at.engine.doDue();
    expect((await at.engine.findTroubles()).failing).toEqual([]);
  },
);

test("what fails in a worker is in its log, and every process on the store sees it", async () => {
  const root = aFolder();
  const store = { kind: "sqlite", file: join(root, "data", "askd.db") } as const;
  const notes: string[] = [];
  const runs = {
    stateDir: join(root, "state"),
    askd: ["askd"],
    env: ENV,
    note: (who: string, text: string) => void notes.push(`${who}: ${text}`),
  };
  const engine = await openEngine({ store, rules: ROOMY, runs });
  onTestFinished(() => engine.stop());
  const id = IDS.run();
  const file = join(await makeRunDir(runs.stateDir, id), "env.json");
  writeFileSync(file, "half");
  await engine.createRun({ id, agent: "command", host: ensureMachineId(runs.stateDir), giveBack: "worker" }, AGENT);
  await engine.doDue();
  const why = expect.stringContaining(`${file} is broken`);
  expect(notes).toEqual([expect.stringMatching(`^resume:${id}: failed once: .* is broken.*; it is tried again$`)]);
  const other = await openEngine({ store, rules: ROOMY });
  onTestFinished(() => other.stop());
  expect((await other.findTroubles()).failing).toMatchObject([{ kind: "resume", tries: 1, why, run: { number: 1 } }]);
});

describe.each(["sqlite", "postgres"] as const)("on a restored %s store", (kind) => {
  test("files of a start that the store does not know of are not taken for the next start", async () => {
    const root = aFolder();
    const store =
      kind === "sqlite"
        ? ({ kind, file: join(root, "data", "askd.db") } as const)
        : ({ kind, url: await createDatabase("restored_run") } as const);
    const runs = { stateDir: join(root, "state"), askd: ["askd"], env: ENV, note: () => undefined };
    const engine = await openEngine({ store, rules: ROOMY, runs });
    const working = engine.work();
    onTestFinished(async () => {
      await engine.stop();
      await working;
    });
    const id = IDS.run();
    const ask = String.raw`printf '<<ASK_HUMAN>>\n{"question": "Which?"}\n<</ASK_HUMAN>>\n'`;
    const script = `if [ -n "$ASKD_ANSWER_FILE" ]; then cp "$ASKD_ANSWER_FILE" got; else ${ask}; fi`;
    const launch = { agent: "command", program: "/bin/sh", args: ["-c", script], dir: root, env: ENV, options: {} };
    const runDir = await makeRunDir(runs.stateDir, id);
    await saveLaunch(runDir, launch);
    await engine.createRun({ id, agent: "command", host: ensureMachineId(runs.stateDir), giveBack: "worker" }, AGENT);
    const waiting = await until("it asks and is gone", async () => {
      const run = await engine.findRun(id);
      return run?.status === "awaiting_input" ? run : undefined;
    });
    // As the store was restored to this moment, after the next start.
    writeFileSync(join(runDir, "2.pid"), "another-boot\n4242 Mon Jan  1 00:00:00 2024\n");
    writeFileSync(join(runDir, "2.exit"), "0\n");
    writeFileSync(join(runDir, "2.out"), "an earlier answer\n");
    await engine.answer(waiting.lastQuestionId!, said("Redis"), ADA);
    const ended = await until("the run is over", async () => {
      const run = await engine.findRun(id);
      return run?.status === "completed" && run;
    });
    expect(existsSync(join(root, "got"))).toBe(true);
    expect(readFileSync(join(root, "got"), "utf8")).toContain("Redis");
    expect(ended).toMatchObject({ epoch: 3 });
  });
});

test("a worker rides out a restart of PostgreSQL, whatever its agents do meanwhile", { timeout: 120_000 }, async () => {
  const database = await startPostgres();
  onTestFinished(() => database.stop());
  const root = aFolder();
  const store = { kind: "postgres", url: database.url } as const;
  const notes: string[] = [];
  const note = (who: string, text: string): void => void notes.push(`${who}: ${text}`);
  const runs = { stateDir: join(root, "state"), askd: ["askd"], env: ENV, note };
  const engine = await openEngine({ store, rules: ROOMY, runs });
  const working = engine.work();
  onTestFinished(async () => {
    await engine.stop();
    await working;
  });
  const id = IDS.run();
  const script = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over";
  const launch = { agent: "command", program: "/bin/sh", args: ["-c", script], dir: root, env: ENV, options: {} };
  const runDir = await makeRunDir(runs.stateDir, id);
  await saveLaunch(runDir, launch);
  await engine.createRun({ id, agent: "command", host: ensureMachineId(runs.stateDir), giveBack: "worker" }, AGENT);
  await until("the agent is there", () => existsSync(join(runDir, "1.out")));
  for (const how of ["politely", "at once"] as const) {
    notes.length = 0;
    await database.crash(how);
    if (how === "at once") writeFileSync(join(root, "go"), "");
    await until("the worker waits for the store", () => notes.some((line) => line.startsWith("worker: waits for")));
    if (how === "at once") await until("the agent is gone", () => existsSync(join(runDir, "1.exit")));
    await database.start();
  }
  const ended = await until("the run is over", async () => {
    const run = await engine.findRun(id);
    return run?.worker === undefined && run;
  });
  expect(ended).toMatchObject({ status: "completed", epoch: 1 });
});
