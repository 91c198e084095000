import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Actor } from "../../core/people/actor.ts";
import { idsFrom } from "../../core/id.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, epochMs, instant, later } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { ADA, AGENT, NOON, aQuestion, aRun } from "../../../test/builders.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { ROOMY, Scene, said } from "../../../test/scene.ts";
import { countStats } from "./count-stats.ts";

const DAYS = 10;

/** One question as the generator makes it: when it was asked and what became of it, in minutes. */
const Drawn = fc.record({
  minute: fc.integer({ min: 0, max: (DAYS * DAY_MS) / MINUTE_MS }),
  run: fc.nat(4),
  end: fc.constantFrom("pending", "person", "policy", "timeout", "default", "cancelled"),
  waited: fc.integer({ min: 0, max: 3_000 }),
  person: fc.constantFrom("ada", "lena", "mika"),
  channel: fc.constantFrom("cli", "web", "slack"),
  due: fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: undefined }),
  to: fc.subarray(["backend", "ada"]),
});
type Drawn = typeof Drawn extends fc.Arbitrary<infer Value> ? Value : never;

let made = 0;
/** Bytes that never come twice. */
function newBytes(count: number): Uint8Array {
  const bytes = Buffer.alloc(count);
  bytes.writeUInt32BE((made += 1), count - 4);
  return bytes;
}

function toQuestion(drawn: Drawn, runs: readonly Run[], start: Instant): Question {
  const askedAt = later(start, drawn.minute * MINUTE_MS);
  const at = later(askedAt, drawn.waited * MINUTE_MS);
  const ids = idsFrom(() => epochMs(askedAt), newBytes);
  const question = aQuestion({
    id: ids.question(),
    runId: runs[drawn.run % runs.length]!.id,
    askedAt,
    to: drawn.to,
    ...(drawn.due !== undefined && { dueAt: later(askedAt, drawn.due * MINUTE_MS) }),
  });
  const by: Actor = { ...ADA, id: drawn.person, channel: drawn.channel };
  const answer = { id: ids.outcome(), outcome: "answer" as const, items: {}, by, at };
  const handover = { state: "owed" } as const;
  if (drawn.end === "person") return { ...question, status: "answered", answer, handover };
  if (drawn.end === "policy")
    return { ...question, status: "answered", answer: { ...answer, policy: "sure" }, handover };
  if (drawn.end === "timeout") return { ...question, status: "timeout", timedOutAt: at, policy: "fail", handover };
  if (drawn.end === "default") {
    return { ...question, status: "timeout", timedOutAt: at, policy: "default", answer, handover };
  }
  if (drawn.end !== "cancelled") return question;
  return { ...question, status: "cancelled", cancelledAt: at, cancelledBy: by, reason: "no", handover };
}

/** The same numbers, each counted on its own in the plainest way. */
function naive(all: readonly Question[], runs: readonly Run[], since: Instant, until: Instant, now: Instant) {
  const asked = all.filter((each) => each.askedAt >= since && each.askedAt < until);
  const people = asked.filter((each) => each.status === "answered" && each.answer.policy === undefined);
  const waitOf = (each: Question): number => {
    const end = { pending: now, answered: "", timeout: "", cancelled: "" }[each.status];
    const at =
      each.status === "answered"
        ? each.answer.at
        : each.status === "timeout"
          ? each.timedOutAt
          : each.status === "cancelled"
            ? each.cancelledAt
            : end;
    return epochMs(at as Instant) - epochMs(each.askedAt);
  };
  const rank = (of: readonly Question[], part: number): number | undefined =>
    of.map(waitOf).sort((one, other) => one - other)[Math.ceil(part * of.length) - 1];
  const ofAgent = (agent: string): Question[] =>
    asked.filter((each) => runs.find(({ id }) => id === each.runId)?.agent === agent);
  const sum = (of: readonly Question[]): number => of.reduce((total, each) => total + waitOf(each), 0);
  const answered = asked.filter(({ status }) => status === "answered");
  const timedOut = asked.filter(({ status }) => status === "timeout");
  const due = asked.filter(
    (each) => each.dueAt !== undefined && each.to.includes("backend") && ["answered", "timeout"].includes(each.status),
  );
  const counts = runs.map(({ id }) => asked.filter(({ runId }) => runId === id).length).filter((count) => count > 0);
  return {
    asked: asked.length,
    answered: answered.length,
    byPerson: people.length,
    timedOut: timedOut.length,
    timeoutRate: timedOut.length === 0 ? 0 : timedOut.length / (timedOut.length + answered.length),
    byPolicy: answered.length - people.length + timedOut.filter((each) => "answer" in each).length,
    median: rank(people, 0.5),
    p90: rank(people, 0.9),
    waitedMs: sum(asked),
    runs: counts.length,
    mostPerRun: Math.max(0, ...counts),
    ada: people.filter((each) => each.status === "answered" && each.answer.by.id === "ada").length,
    claude: { asked: ofAgent("claude").length, waitedMs: sum(ofAgent("claude")) },
    backend: {
      due: due.length,
      met: due.filter((each) => people.includes(each) && waitOf(each) <= epochMs(each.dueAt!) - epochMs(each.askedAt))
        .length,
    },
    days: [...new Set(asked.map((each) => each.askedAt.slice(0, 10)))].sort(),
  };
}

/** The real numbers in the shape of the naive ones. */
async function counted(store: Store, since: Instant, until: Instant) {
  const stats = await countStats({ since, until }, store, ROOMY);
  const { asked, answered, byPerson, timedOut, timeoutRate, byPolicy, medianMs, p90Ms, waitedMs, runs } = stats;
  const claude = stats.agents.find(({ name }) => name === "claude");
  const backend = stats.sla.find(({ name }) => name === "backend");
  return {
    asked,
    answered,
    byPerson,
    timedOut,
    timeoutRate,
    byPolicy,
    median: medianMs,
    p90: p90Ms,
    waitedMs,
    runs,
    mostPerRun: stats.mostPerRun,
    ada: stats.people.find(({ name }) => name === "ada")?.answered ?? 0,
    claude: { asked: claude?.asked ?? 0, waitedMs: claude?.waitedMs ?? 0 },
    backend: { due: backend?.due ?? 0, met: backend?.met ?? 0 },
    days: stats.days.map(({ day }) => day),
  };
}

const directory = mkdtempSync(join(tmpdir(), "askd-stats-"));
const STORES: ReadonlyArray<readonly [string, number, () => Promise<Store>]> = [
  ["memory", 100, async () => new MemoryStore(() => NOON)],
  ["SQLite", 30, () => openSqliteStore(join(directory, "askd.db"))],
  ["PostgreSQL", 15, async () => openPostgres({ url: await createDatabase("stats") })],
];

describe.each(STORES)("numbers from the %s store", (_name, numRuns, open) => {
  let store: Store;
  let era = 0;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("are those that a naive count gives", async () => {
    const property = fc.asyncProperty(fc.array(Drawn, { maxLength: 60 }), fc.nat(DAYS), async (drawn, first) => {
      // Every run of the property has years of its own, so that nothing of another one is counted.
      const start = later(NOON, (era += 1) * 60 * DAY_MS);
      const runs = [0, 1, 2, 3, 4].map((n) => aRun({ agent: n < 3 ? "claude" : "codex", repo: `acme/${n % 2}` }));
      const all = drawn.map((each) => toQuestion(each, runs, start));
      // One question of a run may wait; the others of that run were closed before.
      const kept = all.filter(
        (each, index) =>
          each.status !== "pending" ||
          all.findIndex((other) => other.status === "pending" && other.runId === each.runId) === index,
      );
      await store.commit({ runs });
      for (const question of kept) expect(await store.commit({ questions: [question] })).toMatchObject({ ok: true });
      const since = later(start, first * DAY_MS);
      const until = later(start, DAYS * DAY_MS);
      const now = later(until, 5 * DAY_MS);
      const at = overriding(store, { now: () => Promise.resolve(now) });
      expect(await counted(at, since, until === since ? now : until)).toEqual(
        naive(kept, runs, since, until === since ? now : until, now),
      );
    });
    await fc.assert(property, { numRuns });
  }, 120_000);
});

describe("numbers", () => {
  test("of one repository or agent leave out the others, also of what waits", async () => {
    const scene = new Scene();
    for (const [repo, agent] of [
      ["acme/api", "claude"],
      ["acme/api", "codex"],
      ["acme/web", "claude"],
    ] as const) {
      const { question } = await scene.engine.ask(scene.input(), AGENT, { run: { repo, agent } });
      await scene.pass(HOUR_MS);
      if (agent === "codex") await scene.engine.answer(question.id, said("1"), ADA);
    }
    const until = later(scene.now, 1);
    const api = await scene.engine.stats({ until, repo: "acme/api" });
    expect(api).toMatchObject({ asked: 2, answered: 1, pending: 1, medianMs: HOUR_MS, runs: 2 });
    expect(api.repos.map(({ name }) => name)).toEqual(["acme/api"]);
    expect(await scene.engine.stats({ until, agent: "codex" })).toMatchObject({ asked: 1, pending: 0 });
    expect(await scene.engine.stats({ until })).toMatchObject({ asked: 3, pending: 2, oldest: { askedAt: NOON } });
  });

  test("above their thresholds are said to be", async () => {
    const scene = new Scene({ rules: { alerts: { pendingQuestions: 1, timeoutRate: 0.4, windowMs: DAY_MS, to: [] } } });
    await scene.ask({ timeout: "1h" });
    await scene.pass(2 * HOUR_MS);
    await scene.ask();
    await scene.ask();
    const { alerts } = await scene.engine.stats({ until: later(scene.now, 1) });
    expect(alerts).toEqual([
      { name: "pending", value: 2, threshold: 1, isAbove: true },
      { name: "timeout_rate", value: 1, threshold: 0.4, isAbove: true },
    ]);
  });

  test("of a day are those of the reader's day", async () => {
    const scene = new Scene();
    await scene.pass(11 * HOUR_MS);
    await scene.ask();
    const until = instant(epochMs(scene.now) + 1);
    expect((await scene.engine.stats({ until })).days).toMatchObject([{ day: "2026-01-01" }]);
    const berlin = await scene.engine.stats({ until, aheadMs: 2 * HOUR_MS });
    expect(berlin.days).toMatchObject([{ day: "2026-01-02", asked: 1 }]);
  });

  test("of a time that ends before it begins are refused", async () => {
    const scene = new Scene();
    await expect(scene.engine.stats({ since: later(scene.now, 1), until: scene.now })).rejects.toThrow("ends before");
  });
});

test("asking back is not an answer", async () => {
  const scene = new Scene();
  const first = await scene.ask({ question: "Why?", timeout: "1h" }, { via: "mcp" });
  await scene.pass(MINUTE_MS);
  await scene.engine.answer(first.question.id, said("", { outcome: "clarify", note: "Which cache?" }), ADA);
  const second = await scene.ask({ question: "Which cache, then?" }, { via: "mcp" });
  await scene.pass(MINUTE_MS);
  await scene.engine.answer(second.question.id, said("1"), ADA);
  expect(await scene.engine.stats({})).toMatchObject({
    asked: 2,
    answered: 1,
    byPerson: 1,
    askedBack: 1,
    people: [{ name: "ada", asked: 1, answered: 1 }],
    sla: [{ name: "everyone", due: 1, met: 1, missed: 0 }],
  });
});
