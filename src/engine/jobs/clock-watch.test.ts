import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS, NOON } from "../../../test/builders.ts";
import { ROOMY, SCRIPT, said } from "../../../test/scene.ts";
import { findMachineId } from "../../agents/runner/machine-id.ts";
import { engineOn } from "../../app.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { CONFIRM_JUMP_MS, JUMP_MS } from "../../core/run/clock-jump.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, epochMs, instant } from "../../core/instant.ts";
import type { QuestionId } from "../../core/id.ts";
import { ClockWatch } from "./clock-watch.ts";
import { Decider } from "../decide.ts";
import type { LocalEngine } from "../local-engine.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";

/** A machine whose clock can be set, and on which real time passes whatever the clock says. */
class Bench {
  clockMs = epochMs(NOON);
  upMs = 5 * HOUR_MS;
  readonly store = new MemoryStore(() => instant(this.clockMs));
  engine = this.start();

  /** Another process on the same machine and store. */
  start(): LocalEngine {
    return engineOn(this.store, {
      rules: ROOMY,
      nowMs: () => this.clockMs,
      uptimeMs: () => this.upMs,
      onFailure: (job, error) => {
        throw new Error(`job ${job.key} failed`, { cause: error });
      },
    });
  }

  /** Lets time pass in steps, as for a worker that looks again and again. */
  async pass(ms: number, stepMs = 10 * SECOND_MS): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      const step = Math.min(stepMs, ms - passed);
      this.clockMs += step;
      this.upMs += step;
      await this.engine.doDue();
    }
  }

  async jump(ms: number): Promise<void> {
    this.clockMs += ms;
    await this.engine.doDue();
  }

  async ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
    const input = parseAsk({ question: "Deploy?", timeout: "2h", ...raw }, SCRIPT, ROOMY, instant(this.clockMs));
    return (await this.engine.ask(input, AGENT)).question.id;
  }

  async status(id: QuestionId): Promise<string> {
    return (await this.engine.read(id)).question.status;
  }

  /** The clock's part in the event that closed a question. */
  async flag(id: QuestionId): Promise<unknown> {
    const { run } = await this.engine.read(id);
    const events = (await this.engine.readChain(run.id)).map(({ event }) => event);
    return events.find(({ type }) => type === "question.timed_out")?.detail?.["clock_ahead_ms"];
  }
}

async function aBench(): Promise<Bench> {
  const bench = new Bench();
  await bench.engine.doDue();
  return bench;
}

test("a clock that jumps a day ahead fires no deadline before it has stayed there for a while, and then says so", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  await bench.pass(10 * SECOND_MS);
  await bench.jump(DAY_MS);
  await bench.pass(CONFIRM_JUMP_MS - 10 * SECOND_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(20 * SECOND_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBe(DAY_MS);
});

test("a clock that is put right in time has done nothing, and deadlines come when they were meant to", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  await bench.jump(DAY_MS);
  await bench.pass(5 * MINUTE_MS);
  await bench.jump(-DAY_MS);
  await bench.pass(2 * HOUR_MS - 5 * MINUTE_MS - 10 * SECOND_MS, MINUTE_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(20 * SECOND_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("what is due by real time is met in spite of a jump, on time and unflagged", async () => {
  const bench = await aBench();
  const id = await bench.ask({ timeout: "3m" });
  await bench.pass(MINUTE_MS);
  await bench.jump(DAY_MS);
  await bench.pass(MINUTE_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(MINUTE_MS + 10 * SECOND_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("what is asked after a jump goes by the clock as it is then", async () => {
  const bench = await aBench();
  await bench.jump(DAY_MS);
  const id = await bench.ask({ timeout: "1m" });
  await bench.pass(50 * SECOND_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(20 * SECOND_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("a reply that can be taken back settles when it was meant to, also one that came after the jump", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  await bench.jump(DAY_MS);
  await bench.engine.answer(id, said("yes", { undoMs: 5 * SECOND_MS }), ADA);
  await bench.pass(4 * SECOND_MS, SECOND_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(2 * SECOND_MS, SECOND_MS);
  expect(await bench.status(id)).toBe("answered");
});

test("a machine that slept meets what fell due meanwhile as soon as it wakes", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  bench.upMs += 10 * HOUR_MS;
  await bench.jump(10 * HOUR_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("a machine whose sleep nobody counted meets what fell due a little later", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  await bench.jump(10 * HOUR_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(CONFIRM_JUMP_MS + 10 * SECOND_MS);
  expect(await bench.status(id)).toBe("timeout");
});

test("small corrections are no jump, however often they come", async () => {
  const bench = await aBench();
  const id = await bench.ask({ timeout: "20m" });
  for (let minute = 0; minute < 15; minute += 1) {
    await bench.pass(MINUTE_MS);
    await bench.jump(JUMP_MS - SECOND_MS);
  }
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("a command that runs for a moment sees a jump that came since the one before it", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  bench.clockMs += DAY_MS;
  await bench.start().doDue();
  expect(await bench.status(id)).toBe("pending");
  bench.clockMs += CONFIRM_JUMP_MS + SECOND_MS;
  bench.upMs += CONFIRM_JUMP_MS + SECOND_MS;
  await bench.start().doDue();
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBe(DAY_MS);
});

test("a clock that is put back fires nothing early and keeps nothing waiting that is to be done soon", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  const job = { key: "carry:x", kind: "seal", dueAt: instant(bench.clockMs + 5 * SECOND_MS), tries: 0 } as const;
  await bench.store.commit({ scheduled: [job] });
  await bench.jump(-DAY_MS);
  const kept = (await bench.store.listJobs(10)).find(({ key }) => key === job.key);
  expect(kept?.dueAt).toBe(instant(bench.clockMs + 5 * SECOND_MS));
  expect(await bench.status(id)).toBe("pending");
  await bench.jump(DAY_MS);
  expect(await bench.status(id)).toBe("pending");
  await bench.pass(2 * HOUR_MS + 10 * SECOND_MS, MINUTE_MS);
  expect(await bench.status(id)).toBe("timeout");
  expect(await bench.flag(id)).toBeUndefined();
});

test("a wait is not cut short by a clock that jumps", async () => {
  const bench = await aBench();
  const id = await bench.ask();
  let isOver = false;
  const waiting = bench.engine.wait(id, { until: instant(bench.clockMs + 3 * MINUTE_MS) }).then(() => (isOver = true));
  bench.clockMs += DAY_MS;
  await bench.engine.comment(id, "hm", ADA); // wakes whoever waits for it
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  bench.upMs += 3 * MINUTE_MS;
  await bench.engine.comment(id, "well", ADA);
  expect(await waiting).toBe(true);
});

test("on a system that does not say when it was started deadlines go by the clock alone", async () => {
  const store = new MemoryStore(() => NOON);
  const decider = new Decider({ store, ids: IDS, rules: ROOMY, now: () => NOON });
  const boot = (): Promise<string> => Promise.reject(new Error("there is no such file"));
  const watch = new ClockWatch({
    store,
    decider,
    rules: ROOMY,
    machine: { id: () => "here", boot, uptimeMs: () => 1 },
  });
  expect(await watch.look(NOON, 1)).toBeUndefined();
});

test("a machine has one row whatever its host is called, by the id that its directory keeps", async () => {
  const machineDir = mkdtempSync(join(tmpdir(), "askd-clock-"));
  onTestFinished(() => rmSync(machineDir, { recursive: true, force: true }));
  const store = new MemoryStore(() => NOON);
  for (let starts = 0; starts < 2; starts += 1) {
    const engine = engineOn(store, { rules: ROOMY, nowMs: () => epochMs(NOON), uptimeMs: () => HOUR_MS, machineDir });
    await engine.doDue();
  }
  expect((await store.listEntries("clock")).map(({ id }) => id)).toEqual([findMachineId(machineDir)]);
  expect(findMachineId(machineDir)).toMatch(/~[0-9a-f]+$/);
});
