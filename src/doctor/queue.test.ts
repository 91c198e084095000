import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { takeLock } from "../agents/process/lock.ts";
import { readOwnIdentity } from "../agents/process/process-identity.ts";
import { saveLaunch, makeRunDir } from "../agents/runner/run-files.ts";
import { openEngine } from "../app.ts";
import { SYSTEM } from "../core/people/actor.ts";
import { parseAsk } from "../core/question/ask-input.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, instant, later } from "../core/instant.ts";
import { sayLeft } from "../agents/process/stop.ts";
import type { Job } from "../core/run/job.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import type { Run } from "../core/run/run.ts";
import { openDatabase } from "../sqlite.ts";
import { ADA, AGENT, IDS } from "../../test/builders.ts";
import { ROOMY, SCRIPT, said } from "../../test/scene.ts";
import { VERSION, Ward } from "../../test/ward.ts";

const now = () => instant(Date.now());
const anAsk = () => parseAsk({ question: "Redis or Memcached?", timeout: "24h" }, SCRIPT, DEFAULT_RULES, now());

/** No trail tells of the jobs that these tests plant. */
const isOfQueue = (trouble: string) => !trouble.startsWith("trail_differs");

/** Has a worker that is gone hold a job until then. */
async function leased(ward: Ward, job: Pick<Job, "key" | "kind"> & Partial<Job>, until: string): Promise<void> {
  await ward.withStore((store) =>
    store.commit({
      scheduled: [{ dueAt: later(now(), -DAY_MS), tries: 0, ...job, claim: { worker: IDS.worker(), leaseMs: 1 } }],
    }),
  );
  const database = openDatabase(ward.file);
  database.prepare("update job set lease_until = ?, ready_at = ? where key = ?").run(until, until, job.key);
  database.close();
}

/** Has this process say that it is a worker of the ward's store, heard of that long ago. */
async function beat(ward: Ward, over: { agoMs?: number; version?: string } = {}): Promise<void> {
  const { agoMs = 0, version = VERSION } = over;
  const body = { host: hostname(), process: await readOwnIdentity(), version, beatAt: later(now(), -agoMs) };
  const entry = {
    kind: "worker",
    id: IDS.worker(),
    version: 0,
    body: { ...body, process: { ...body.process } },
  } as const;
  await ward.withStore((store) => store.commit({ entries: [entry] }));
}

describe("a job", () => {
  test("whose lease ended long ago is found, and done", async () => {
    const ward = new Ward();
    const { question } = await ward.withEngine((engine) => engine.ask(anAsk(), AGENT));
    const job = {
      key: `remind:${question.id}`,
      kind: "remind",
      questionId: question.id,
      runId: question.runId,
    } as const;
    await leased(ward, job, later(now(), -HOUR_MS));
    expect((await ward.troubles()).filter(isOfQueue)).toEqual([
      expect.stringMatching(/^job_stuck: 1 job \(remind\) stuck for (59m|1h)/),
    ]);
    expect(await ward.fix()).toEqual({ fixed: ["job_stuck"], left: [] });
  });

  test("that a wrong clock has locked away is found, and done", async () => {
    const ward = new Ward();
    await ward.makeStore();
    await leased(ward, { key: "seal", kind: "seal" }, later(now(), DAY_MS));
    expect(await ward.troubles()).toEqual([expect.stringContaining("job_stuck: 1 job (seal) stuck")]);
    expect(await ward.fix()).toEqual({ fixed: ["job_stuck"], left: [] });
  });

  test("that fell due while nothing ran is no problem, but one that a living worker leaves is", async () => {
    const ward = new Ward();
    await ward.withStore((store) =>
      store.commit({ scheduled: [{ key: "seal", kind: "seal", dueAt: later(now(), -DAY_MS), tries: 0 }] }),
    );
    expect(await ward.troubles()).toEqual([]);
    await beat(ward);
    expect(await ward.troubles()).toEqual([expect.stringContaining("job_stuck")]);
  });

  test("that only a worker does is found when there is none, and one is started", async () => {
    const ward = new Ward();
    await ward.makeStore();
    const due = later(now(), -HOUR_MS);
    const job: Job = { key: "carry:r_x", kind: "carry", dueAt: due, tries: 0, host: hostname(), agent: "command" };
    await ward.withStore((store) => store.commit({ scheduled: [job] }));
    let started = 0;
    const startWorker = () => Promise.resolve((started += 1) > 0);
    const { fixed, left } = await ward.fix({ startWorker });
    expect({ fixed, left: left.filter(isOfQueue) }).toEqual({ fixed: ["job_stuck"], left: [] });
    expect(started).toBe(1);
  });

  test("that fails is found with its reason, as a problem where a run waits for it for long", async () => {
    const ward = new Ward();
    const run = await ward.withEngine((engine) => engine.createRun({ name: "cache", host: "far-away" }, AGENT));
    const failure = { why: "the disk is full", at: now() };
    const job = (kind: "resume" | "seal", tries: number): Job => ({
      key: kind,
      kind,
      dueAt: later(now(), 30_000),
      tries,
      failure,
      ...(kind === "resume" && { runId: run.id, host: "far-away" }),
    });
    await ward.withStore((store) => store.commit({ scheduled: [job("resume", 6), job("seal", 1)] }));
    const found = (await ward.look()).filter(({ code }) => code === "job_failing");
    expect(found).toMatchObject([
      {
        level: "problem",
        text: "the resume of #1 cache failed 6 times: the disk is full; it is tried again soon",
        fix: "put that right, or end the run: askd runs cancel 1",
      },
      { level: "warning", text: "the seal failed once: the disk is full; it is tried again soon" },
    ]);
  });

  test("that cannot end the processes of a cancelled run names the command that does", async () => {
    const ward = new Ward();
    const run = await ward.withEngine(async (engine) => {
      const { id } = await engine.createRun({ name: "cache" }, AGENT);
      return engine.cancelRun(id, { ...AGENT, scope: "human" });
    });
    const job = (key: string, why: string): Job => {
      const failure = { why, at: now() };
      return { key, kind: "stop", dueAt: later(now(), 30_000), tries: 6, failure, runId: run.id, host: "far-away" };
    };
    const left = sayLeft([{ pid: 4711 }, { pid: 4712 }], "run #1");
    const jobs = [job("one", left), job("two", "the disk is full")];
    await ward.withStore((store) => store.commit({ scheduled: jobs }));
    const found = (await ward.look()).filter(({ code }) => code === "job_failing");
    expect(new Set(found.map(({ fix }) => fix))).toEqual(
      new Set(["kill -9 4711 4712", "put that right; askd goes on by itself"]),
    );
  });

  test("of another machine that is away is a warning, here and over a server", async () => {
    const ward = new Ward();
    const engine = await openEngine({ store: { kind: "sqlite", file: ward.file }, rules: ROOMY });
    onTestFinished(() => engine.stop());
    const input = { agent: "command", host: "far-away~3fa91c", giveBack: "worker" } as const;
    for (const name of ["add-caching", "fix-auth"]) await engine.createRun({ ...input, name }, AGENT);
    const never = "host_silent: #1 add-caching and 1 other run wait for far-away, never heard of";
    expect(await ward.troubles()).toEqual([never]);
    const beat = async (ago: number, version: number): Promise<void> => {
      const body = { host: "far-away~3fa91c", process: { pid: 1, born: "1", boot: "1" }, beatAt: later(now(), -ago) };
      await ward.withStore((store) => store.commit({ entries: [{ kind: "worker", id: "w_far", version, body }] }));
    };
    await beat(3 * HOUR_MS, 0);
    const silent = "host_silent: #1 add-caching and 1 other run wait for far-away, last heard of 3h ago";
    expect(await ward.troubles()).toEqual([silent]);
    const remote = { store: { kind: "server", url: "http://127.0.0.1:2", token: "t" } as const };
    const over = { ...remote, openRemote: () => Promise.resolve(engine) };
    expect(await ward.troubles(over)).toContain(silent);
    await beat(0, 1);
    expect(await ward.troubles()).toEqual([]);
  });
});

describe("what became of a question", () => {
  test("that nobody took is found", async () => {
    const ward = new Ward();
    const server = createServer((_request, reply) => reply.writeHead(410).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
    await ward.withEngine(async (engine) => {
      const run = { giveBack: "callback", callback: { url, secret } } as const;
      const { question } = await engine.ask(anAsk(), AGENT, { run });
      await engine.answer(question.id, said("Redis"), ADA);
      await engine.doDue();
    });
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^undelivered: the outcome of q-\w+ "Redis or Memcached\?" was not delivered/),
    ]);
  });

  test("that could not be brought many times is a warning", async () => {
    const ward = new Ward();
    const { question } = await ward.withEngine((engine) => engine.ask(anAsk(), AGENT));
    const job: Job = {
      key: "callback:x",
      kind: "callback",
      dueAt: later(now(), HOUR_MS),
      tries: 5,
      questionId: question.id,
    };
    await ward.withStore((store) => store.commit({ scheduled: [job] }));
    expect((await ward.troubles()).filter(isOfQueue)).toEqual([
      expect.stringMatching(/^delivery_failing: the callback of q-\w+ failed 5 times; it is tried again in (59m|1h)/),
    ]);
  });
});

describe("a run that waits", () => {
  async function waiting(ward: Ward, over: { agent: string; session?: string; program?: string }): Promise<Run> {
    return ward.withEngine(async (engine) => {
      const id = IDS.run();
      const { agent, session, program } = over;
      if (program !== undefined) {
        const launch = {
          agent,
          program,
          args: [],
          dir: ward.project,
          env: { PATH: "/bin", HOME: ward.home },
          options: {},
        };
        await saveLaunch(await makeRunDir(ward.stateDir, id), launch);
      }
      const input = {
        id,
        name: "add-caching",
        agent,
        host: hostname(),
        giveBack: "worker",
        dir: ward.project,
      } as const;
      const run = await engine.createRun({ ...input, ...(session !== undefined && { session }) }, AGENT);
      await engine.startRun(run.id, AGENT);
      await engine.ask(anAsk(), AGENT, { runId: run.id });
      return engine.endRun(run.id, { status: "completed" }, AGENT);
    });
  }

  test("for an agent that this machine does not have is found", async () => {
    const ward = new Ward();
    await waiting(ward, { agent: "codex", program: join(ward.root, "gone", "codex") });
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^agent_missing: #1 add-caching waits for codex, which this machine does not have/),
    ]);
  });

  test("for an agent that nobody knows is found", async () => {
    const ward = new Ward();
    await waiting(ward, { agent: "hal9000", program: "/bin/sh" });
    expect(await ward.troubles()).toEqual([
      expect.stringContaining('agent_unknown: #1 add-caching waits for the agent "hal9000"'),
    ]);
  });

  test("for a session that is gone is found", async () => {
    const ward = new Ward();
    await waiting(ward, { agent: "claude", session: "5b1d1a3c-0000-4000-8000-000000000000", program: "/bin/sh" });
    expect(await ward.troubles()).toEqual([expect.stringContaining("session_lost: the session of #1 add-caching")]);
  });

  test("whose launch record is gone is found, with the way to continue its session", async () => {
    const ward = new Ward();
    await waiting(ward, { agent: "claude", session: "5b1d1a3c-0000-4000-8000-000000000000" });
    expect(await ward.troubles()).toEqual([
      "launch_lost: #1 add-caching cannot continue: its launch record is no longer on this machine",
    ]);
    expect(await ward.look()).toContainEqual(
      expect.objectContaining({ code: "launch_lost", fix: expect.stringContaining("askd takeover 1") }),
    );
  });

  test("for a program that is there is no problem", async () => {
    const ward = new Ward();
    await waiting(ward, { agent: "command", program: "/bin/sh" });
    expect(await ward.troubles()).toEqual([]);
    expect((await ward.look()).filter(({ area }) => area === "queue").map(({ text }) => text)).toEqual([
      expect.stringMatching(/^1 waiting, oldest \ds$/),
      "0 stuck; 0 undelivered",
    ]);
  });
});

test("a worker of another version is found", async () => {
  const ward = new Ward();
  await beat(ward, { version: "9.9.9" });
  expect(await ward.troubles()).toEqual([
    `worker_version: the worker (process ${process.pid}) is askd 9.9.9, this is ${VERSION}`,
  ]);
});

test("a worker that has the lock and is not heard of is found", async () => {
  const ward = new Ward();
  await beat(ward, { agoMs: 20_000 });
  expect(await ward.troubles()).toEqual([]);
  const unlock = takeLock(join(dirname(ward.file), "askd.lock"));
  onTestFinished(() => unlock?.());
  expect(await ward.troubles()).toEqual([expect.stringContaining("worker_silent: ")]);
  await beat(ward);
  expect(await ward.troubles()).toEqual([]);
});

test("an answer that nobody has brought to a session of a person's own is found, with what to type", async () => {
  const ward = new Ward();
  await ward.withEngine(async (engine) => {
    const run = { agent: "claude", host: hostname(), giveBack: "poll", session: "5e55", dir: "/repo" } as const;
    const { question } = await engine.ask(
      parseAsk({ question: "Redis?" }, { via: "mcp" }, DEFAULT_RULES, now()),
      AGENT,
      {
        run,
      },
    );
    await engine.answer(question.id, said("Yes"), ADA);
  });
  const findings = await ward.look();
  expect(findings).toContainEqual(
    expect.objectContaining({
      code: "answer_untaken",
      level: "warning",
      fix: "cd /repo && claude --resume 5e55",
      text: "#1 redis is answered, and nobody has brought the answer to claude",
    }),
  );
  expect(findings.find(({ code }) => code === "jobs")?.text).toBe("0 stuck; 1 undelivered");
});

test("a run whose agent says that it is not logged in is found", async () => {
  const ward = new Ward();
  await ward.withEngine(async (engine) => {
    const run = await engine.createRun({ name: "add-caching", agent: "claude", host: "there" }, AGENT);
    await engine.endRun(run.id, { status: "blocked", reason: "not_logged_in" }, AGENT);
  });
  expect(await ward.look()).toContainEqual(
    expect.objectContaining({
      code: "agent_logged_out",
      level: "problem",
      fix: "log in to claude there, then askd runs resume 1",
      text: "#1 add-caching cannot continue: claude is not logged in on there",
    }),
  );
});

test("a run whose files were changed by somebody is found", async () => {
  const ward = new Ward();
  const id = IDS.run();
  const runDir = await makeRunDir(ward.stateDir, id);
  writeFileSync(join(runDir, "env.json"), "{", { mode: 0o600 });
  await ward.withEngine((engine) =>
    engine.createRun({ id, name: "broken", agent: "command", host: hostname(), giveBack: "worker" }, AGENT),
  );
  expect(await ward.troubles({ nowMs: () => Date.now() + MINUTE_MS })).toEqual([
    expect.stringContaining("run_broken: #1 broken cannot continue"),
  ]);
});

test("a question that too few people are left to decide is a warning with the way out", async () => {
  const ward = new Ward();
  await ward.withEngine(async (engine) => {
    for (const id of ["lena", "mika"]) await engine.putPerson({ id, groups: [], version: 0 }, SYSTEM);
    const approvals = { need: 2, from: ["lena", "mika"], veto: false };
    await engine.ask({ ...anAsk(), kind: "approval", approvals }, AGENT);
    await engine.removePerson("lena", {}, SYSTEM);
  });
  const found = (await ward.look()).filter(({ code }) => code === "votes_unreachable");
  expect(found).toMatchObject([{ level: "warning", fix: expect.stringMatching(/askd user add .* askd cancel q-/) }]);
});
