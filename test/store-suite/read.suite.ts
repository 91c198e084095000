import { describe, expect, test } from "vitest";
import { randomPart, type QuestionId } from "../../src/core/id.ts";
import { later } from "../../src/core/instant.ts";
import { IDS, NOON, aQuestion, answered } from "../builders.ts";
import { eachWithStore, keep, keepRun, type Open, type Opened } from "./opened.ts";

export function readSuite(open: Open): void {
  describe("reading", () => {
    const at = eachWithStore(open);
    lookingUp(at);
    counting(at);
    listing(at);
    paging(at);
  });
}

function lookingUp(at: Opened): void {
  test("finds runs by number, name, external id and session, the newest first", async () => {
    const old = await keepRun(at.store, { name: "fix", externalId: "T-1", session: "s", host: "there" });
    const run = await keepRun(at.store, { name: "fix", externalId: "T-2", session: "s" });
    const look = async (by: "name" | "external" | "session", text: string, limit = 5): Promise<string[]> =>
      (await at.store.lookUp({ by, text }, limit)).runs.map(({ id }) => id);
    expect((await at.store.lookUp({ by: "number", number: old.number }, 5)).runs).toEqual([old]);
    expect((await at.store.lookUp({ by: "number", number: 999 }, 5)).runs).toEqual([]);
    expect(await look("name", "fix")).toEqual([run.id, old.id]);
    expect(await look("name", "fix", 1)).toEqual([run.id]);
    expect(await look("name", "fi")).toEqual([]);
    expect(await look("external", "T-1")).toEqual([old.id]);
    expect(await look("session", "s")).toEqual([run.id, old.id]);
  });

  test("finds runs and questions by the start of the random part of their id", async () => {
    const run = await keepRun(at.store);
    const question = aQuestion({ runId: run.id });
    await keep(at.store, { questions: [question] });
    const short = (id: string): { by: "short"; text: string } => ({ by: "short", text: randomPart(id).slice(0, 8) });
    expect((await at.store.lookUp(short(run.id), 5)).runs.map(({ id }) => id)).toEqual([run.id]);
    expect((await at.store.lookUp(short(question.id), 5)).questions.map(({ id }) => id)).toEqual([question.id]);
    expect(await at.store.lookUp({ by: "short", text: "%" }, 5)).toEqual({ runs: [], questions: [] });
    expect(await at.store.lookUp({ by: "short", text: "zzzzzzzzz" }, 5)).toEqual({ runs: [], questions: [] });
  });
}

function counting(at: Opened): void {
  test("tells where many runs come from at once, and leaves out what is not kept", async () => {
    const one = await keepRun(at.store, { agent: "claude", repo: "acme/api" });
    const other = await keepRun(at.store, { agent: "codex" });
    const origins = await at.store.readOrigins([one.id, other.id, IDS.run()]);
    expect(origins.toSorted((left, right) => (left.id < right.id ? -1 : 1))).toEqual([
      { id: one.id, number: one.number, agent: "claude", repo: "acme/api", sources: one.sources },
      { id: other.id, number: other.number, agent: "codex", sources: other.sources },
    ]);
    expect(await at.store.readOrigins([])).toEqual([]);
  });
}

function listing(at: Opened): void {
  test("lists runs by status, parent and end, either way round", async () => {
    const parent = await keepRun(at.store);
    const child = await keepRun(at.store, { parentId: parent.id, status: "completed", endedAt: NOON });
    const failed = await keepRun(at.store, { status: "failed", endedAt: later(NOON, 1000) });
    const list = async (over: object): Promise<string[]> =>
      (await at.store.listRuns({ order: "oldest", limit: 10, ...over })).map(({ id }) => id);
    expect(await list({})).toEqual([parent.id, child.id, failed.id]);
    expect(await list({ order: "newest" })).toEqual([failed.id, child.id, parent.id]);
    expect(await list({ statuses: ["completed", "failed"] })).toEqual([child.id, failed.id]);
    expect(await list({ statuses: ["failed"] })).toEqual([failed.id]);
    expect(await list({ statuses: [] })).toEqual([]);
    expect(await list({ statuses: ["completed", "failed"], order: "newest", limit: 1 })).toEqual([failed.id]);
    expect(await list({ parentId: parent.id })).toEqual([child.id]);
    expect(await list({ endedSince: NOON })).toEqual([child.id, failed.id]);
    expect(await list({ endedSince: later(NOON, 1) })).toEqual([failed.id]);
    expect(await list({ after: child.id })).toEqual([failed.id]);
    expect(await list({ after: child.id, order: "newest" })).toEqual([parent.id]);
  });

  test("lists and counts questions by status and run", async () => {
    const [run, other] = [await keepRun(at.store), await keepRun(at.store)];
    const closed = answered(aQuestion({ runId: run.id }));
    const [open, elsewhere] = [aQuestion({ runId: run.id }), aQuestion({ runId: other.id })];
    await keep(at.store, { questions: [elsewhere, closed, open] });
    const list = async (over: object): Promise<string[]> =>
      (await at.store.listQuestions({ order: "oldest", limit: 10, ...over })).map(({ id }) => id);
    expect(await list({})).toEqual([closed.id, open.id, elsewhere.id]);
    expect(await list({ status: "pending" })).toEqual([open.id, elsewhere.id]);
    expect(await list({ status: "pending", order: "newest" })).toEqual([elsewhere.id, open.id]);
    expect(await list({ status: "pending", runId: run.id })).toEqual([open.id]);
    expect(await list({ runId: run.id })).toEqual([closed.id, open.id]);
    expect(await list({ status: "pending", after: open.id })).toEqual([elsewhere.id]);
    expect(await at.store.countQuestions("pending")).toBe(2);
    expect(await at.store.countQuestions("answered")).toBe(1);
    expect(await at.store.countQuestions("timeout")).toBe(0);
  });
}

const MANY = 10_000;
const PER_COMMIT = 500;

function paging(at: Opened): void {
  test("pages through 10,000 questions without missing or repeating one", { timeout: 120_000 }, async () => {
    const ids: QuestionId[] = [];
    for (let count = 0; count < MANY; count += PER_COMMIT) {
      const run = await keepRun(at.store);
      const questions = Array.from({ length: PER_COMMIT }, () => answered(aQuestion({ runId: run.id })));
      ids.push(...questions.map(({ id }) => id));
      await keep(at.store, { questions });
    }
    expect(await at.store.countQuestions("answered")).toBe(MANY);
    for (const order of ["oldest", "newest"] as const) {
      const read: string[] = [];
      for (let after: QuestionId | undefined; ;) {
        const page = await at.store.listQuestions({ status: "answered", order, after, limit: 1000 });
        read.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id;
        if (page.length < 1000) break;
      }
      expect(read).toEqual(order === "oldest" ? ids : ids.toReversed());
    }
  });
}
