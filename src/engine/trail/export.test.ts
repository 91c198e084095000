import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type ExportLine, parseExportLine } from "../../core/trail/export.ts";
import { STORE_CHAIN } from "../../core/id.ts";
import { HOUR_MS } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { Scene, said } from "../../../test/scene.ts";
import { type ExportQuery, exportStore } from "./export.ts";
import { ensureStoreKey } from "./store-key.ts";
import { checkExport, importLines } from "./import.ts";
import { verify } from "./verify.ts";

const ADMIN = { ...ADA, scope: "admin" } as const;
const directory = mkdtempSync(join(tmpdir(), "askd-export-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs in every state, people, templates, corrections and a callback. */
async function aBusyScene(): Promise<Scene> {
  const scene = new Scene();
  await scene.engine.putPerson({ id: "ada", version: 0, groups: ["backend"] }, ADMIN);
  await scene.engine.putTemplate({ name: "tests", text: "Yes" }, ADA);
  await scene.engine.issueToken({ scope: "agent", subject: "ci" }, ADMIN);
  const { question } = await scene.ask({ timeout: "4h" });
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.engine.amend(question.id, "rather 2", ADA);
  await scene.ask({ timeout: "1h" });
  await scene.pass(2 * HOUR_MS);
  const run = await scene.startedRun({ session: "s", repo: "acme/api" });
  await scene.engine.ask(scene.input({ hold: "1h", question: "Which \u{1f600} one\u2028?" }), AGENT, { runId: run.id });
  const callback = { url: "http://127.0.0.1:9/x", secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` };
  await scene.engine.ask(scene.input(), AGENT, { run: { callback } });
  return scene;
}

async function exported(store: Store, hasSecrets = true, more: Partial<ExportQuery> = {}): Promise<string[]> {
  const lines: string[] = [];
  await exportStore(store, { version: "1.2.3", hasSecrets, ...more }, async (text) => void lines.push(text));
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** The parts that must be equal everywhere: all but the time of the export and the additions of each import. */
const same = (lines: readonly string[]): unknown[] =>
  lines.slice(1, -1).map((text): unknown => {
    const { head: _head, ...line } = JSON.parse(text) as { kind: string; head?: unknown; events?: string[] };
    if (line.kind !== "run") return line;
    return { ...line, events: line.events?.filter((body) => !body.startsWith('{"type":"run.imported"')) };
  });

describe("an export", () => {
  test("moves a store from memory to SQLite, to PostgreSQL and back, word for word", async () => {
    const scene = await aBusyScene();
    let lines = await exported(scene.store);
    const first = same(lines);
    const stores = [
      await openSqliteStore(join(directory, "one.db")),
      await openPostgres({ url: await createDatabase("moved") }),
      await openSqliteStore(join(directory, "two.db")),
    ];
    for (const store of stores) {
      await checkExport(each(lines));
      expect(await importLines(store, each(lines), ADMIN)).toEqual({
        runs: 4,
        skipped: 0,
        people: 1,
        templates: 1,
        conflicts: [],
      });
      expect((await verify(store)).problems).toEqual([]);
      lines = await exported(store);
      expect(same(lines)).toEqual(first);
      expect(await importLines(store, each(lines), ADMIN)).toMatchObject({
        runs: 0,
        skipped: 4,
        people: 0,
        templates: 0,
      });
      expect(same(await exported(store))).toEqual(first);
    }
    await Promise.all(stores.map((store) => store.close()));
  }, 60_000);

  test("is gone on with where it was taken to: what waits is answered and falls due there", async () => {
    const scene = await aBusyScene();
    const lines = await exported(scene.store);
    const other = new Scene();
    await importLines(other.store, each(lines), ADMIN);
    const [waiting] = await other.engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
    await other.engine.answer(waiting!.id, said("1"), ADA);
    await other.pass(48 * HOUR_MS);
    expect(await other.engine.countQuestions("pending")).toBe(0);
    expect(await other.engine.countQuestions("timeout")).toBe(2);
    expect((await other.engine.verify()).problems).toEqual([]);
  });

  test("is recorded as imported by the person who imports it", async () => {
    const lines = await exported((await aBusyScene()).store);
    const other = new Scene();
    const by = { ...ADMIN, id: "lena", channel: "cli" };
    await importLines(other.store, each(lines), by);
    const types = ["run.imported", "person.added", "template.saved"];
    const events = (await other.engine.readFeed("", 1000)).map(({ event }) => event);
    // The trail of an imported run is copied word for word: only its last line is of this store.
    const own = events.filter(({ type, runId }) => type === "run.imported" || runId === STORE_CHAIN);
    expect(new Set(own.map(({ type }) => type))).toEqual(new Set(types));
    expect(own.map((event) => event.by)).toEqual(own.map(() => by));
  });

  test("holds no token, and what signs callbacks only if that is wanted", async () => {
    const scene = await aBusyScene();
    const text = (await exported(scene.store, false)).join("\n");
    expect(text).not.toMatch(/whsec_|askd_[ahx]_|"kind":"token"/);
    expect((await exported(scene.store)).join("\n")).toContain("whsec_");
    const other = new Scene();
    await importLines(other.store, each(text.split("\n")), ADMIN);
    expect((await other.engine.verify()).problems).toEqual([]);
  });

  test("of questions that were sent, with links to them, is whole where it was taken to", async () => {
    const board = new Board();
    const rules = { reach: [{ name: "board", person: undefined, isPersonal: false }] };
    const scene = new Scene({ rules, openChannel: board.open });
    await scene.engine.putPerson({ id: "ada", version: 0, groups: [] }, ADMIN);
    const { question } = await scene.ask();
    const { question: answered } = await scene.ask({ question: "Which log?" });
    await scene.engine.issueLink(question.id, "ada", ADMIN);
    await scene.pass(0);
    await scene.engine.answer(answered.id, said("1"), ADA);
    await scene.pass(0);
    const store = await openSqliteStore(join(directory, "sent.db"));
    await importLines(store, each(await exported(scene.store)), ADMIN);
    expect((await verify(store)).problems).toEqual([]);
    for (const { id } of [question, answered]) expect(await store.listEntries("delivery", id)).toHaveLength(1);
    expect(await store.findEntry("outside", "board:m1")).toBeDefined();
    await store.close();
  });

  test("made while questions are asked and answered is as the store was at one moment, with all timers", async () => {
    const scene = new Scene();
    const asked: Question[] = [];
    for (let count = 0; count < 210; count += 1) asked.push((await scene.ask({ timeout: "2h" })).question); // two pages
    const lines: string[] = [];
    await exportStore(scene.store, { version: "1", hasSecrets: true }, async (text, { kind }) => {
      lines.push(text);
      if (kind !== "run" || lines.length >= 12) return;
      await scene.pass(1); // ids are sorted by time
      await scene.ask({ timeout: "2h" });
      await scene.engine.answer(asked[209 - lines.length]!.id, said("1"), ADA);
    });
    const runs = lines
      .map((line, index) => parseExportLine(line, index + 1))
      .flatMap((line) => (line.kind === "run" ? [line] : []));
    const pending = runs.flatMap(({ questions, jobs }) =>
      questions.filter(({ status }) => status === "pending").map(({ id }) => jobs.some((job) => job.questionId === id)),
    );
    expect(pending).toHaveLength(210);
    expect(pending).not.toContain(false);
  });

  test("that lacks timers gets them where it is imported, and they fire", async () => {
    const lines = (await exported((await aBusyScene()).store)).map((text) => {
      const line: Record<string, unknown> = JSON.parse(text);
      return JSON.stringify(line["kind"] === "run" ? { ...line, jobs: [] } : line);
    });
    const other = new Scene();
    await importLines(other.store, each(lines), ADMIN);
    expect((await other.engine.verify()).problems).toEqual([]);
    expect(await other.engine.countQuestions("pending")).toBeGreaterThan(0);
    await other.pass(72 * HOUR_MS);
    expect(await other.engine.countQuestions("pending")).toBe(0);
  });

  test("of an earlier build, whose runs have two fields first, is taken", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    await scene.engine.createRun({ name: "new", agent: "claude", host: "here", giveBack: "worker" }, ADMIN);
    const lines = (await exported(scene.store)).map((text) => {
      const line = JSON.parse(text) as { kind: string; run?: Record<string, unknown> };
      const { starts, isContinued, ...rest } = line.run ?? {};
      return line.run ? JSON.stringify({ ...line, run: { starts, isContinued, ...rest } }) : text;
    });
    await expect(checkExport(each(lines))).resolves.toEqual({ key: undefined });
    const edited = lines.map((line) => line.replace(`"name":"${run.name}"`, '"name":"other"'));
    await expect(checkExport(each(edited))).rejects.toThrow("is not as its trail tells");
  });

  test.each([
    ["an answer", /"values":\["Redis"\]/, '"values":["Memcached"]'],
    ["who answered", /"by":\{"scope":"human","id":"ada"/, '"by":{"scope":"human","id":"lena"'],
    ["a text", /"text":"Redis or Memcached\?"/, '"text":"Redis or disk?"'],
    ["a title", /"title":"Redis or Memcached\?"/, '"title":"Redis or disk?"'],
    ["a correction", /rather 2/, "rather 3"],
    ["the state of a run", /"status":"awaiting_input"/, '"status":"completed"'],
    ["the name of a run", /("kind":"run","run":\{.*?)"name":"[^"]*"/, '$1"name":"other"'],
    ["the machine of a run", /("kind":"run","run":\{.*?)"host":"[^"]*"/, '$1"host":"elsewhere"'],
    ["the kind of a job", /("jobs":\[\{"key":"[^"]*","kind":)"\w+"/, '$1"settle"'],
  ])("in which %s was changed is refused", async (_what, from, to) => {
    const lines = await exported((await aBusyScene()).store);
    const at = lines.findIndex((line) => line.startsWith('{"kind":"run"') && from.test(line));
    const edited = lines.with(at, lines[at]?.replace(from, to) ?? "");
    expect(edited).not.toEqual(lines);
    await expect(checkExport(each(edited))).rejects.toThrow(/is damaged: line \d+: .*nothing was imported/);
  });

  describe("that is signed", () => {
    const signed = async () => {
      const { store } = await aBusyScene();
      const key = await ensureStoreKey(store, ADMIN);
      return { store, key, lines: await exported(store, true, { key }) };
    };

    test("names its key, which the store keeps; the trail tells of it, and imported runs tell whose they were", async () => {
      const { store, key, lines } = await signed();
      expect((await ensureStoreKey(store, ADMIN)).name).toBe(key.name);
      expect((await verify(store)).problems).toEqual([]);
      expect(await checkExport(each(lines), key.name)).toEqual({ key: key.name });
      expect(lines.join()).not.toContain((await store.findEntry("key", "export"))!.body["secret"]);
      const other = new Scene();
      await importLines(other.store, each(lines), ADMIN, { key: key.name });
      const [run] = await other.store.listRuns({ order: "oldest", limit: 1 });
      const { events } = await other.store.readChain(run!.id);
      expect(events.at(-1)?.event).toMatchObject({ type: "run.imported", detail: { key: key.name } });
    });

    test.each<[string, (lines: string[]) => string[]]>([
      ["a person", (lines) => lines.map((line) => line.replace('"groups":["backend"]', '"groups":["admins"]'))],
      ["a template", (lines) => lines.map((line) => line.replace('"text":"Yes"', '"text":"No"'))],
      ["the time of it", (lines) => lines.map((line) => line.replace('"version":"1.2.3"', '"version":"1.2.4"'))],
      ["how often a job was tried", (lines) => lines.map((line) => line.replace('"tries":0', '"tries":1'))],
      ["the order of its lines", ([head, one, two, ...rest]) => [head!, two!, one!, ...rest]],
    ])("and in which %s was changed is refused", async (_what, change) => {
      const { lines } = await signed();
      const edited = change(lines);
      expect(edited).not.toEqual(lines);
      await expect(checkExport(each(edited))).rejects.toThrow("was changed after it was signed; nothing was imported");
    });

    test("by another store, or by none, is refused if a key is expected", async () => {
      const { key, lines } = await signed();
      const other = await signed();
      await expect(checkExport(each(other.lines), key.name)).rejects.toThrow("is signed by another key");
      const end = { ...(JSON.parse(lines.at(-1)!) as Record<string, unknown>), key: undefined, signature: undefined };
      const unsigned = [...lines.slice(0, -1), JSON.stringify(end)];
      expect(await checkExport(each(unsigned))).toEqual({ key: undefined });
      await expect(checkExport(each(unsigned), key.name)).rejects.toThrow("is not signed");
    });
  });

  test("of one run has that run alone", async () => {
    const scene = await aBusyScene();
    const [run] = await scene.store.listRuns({ order: "newest", limit: 1 });
    const lines = await exported(scene.store, false, { runId: run!.id });
    const kinds = lines.map((line) => (JSON.parse(line) as ExportLine).kind);
    expect(kinds).toEqual(["askd.export", "run", "end"]);
  });

  const change = (lines: readonly string[], kind: ExportLine["kind"], from: RegExp, to: string): string[] =>
    lines.map((line) => (JSON.parse(line).kind === kind ? line.replace(from, to) : line));

  test.each<[string, (lines: string[]) => string[], string]>([
    ["is empty", () => [], "empty"],
    ["is something else", () => ['{"a":1}'], "not an export"],
    ["is no JSON", () => ["hello"], "line 1: it is not JSON"],
    ["is from a newer askd", (lines) => change(lines, "askd.export", /"format":1/, '"format":2'), "newer askd (1.2.3)"],
    ["was cut off", (lines) => lines.slice(0, -1), "its end is missing"],
    ["was cut in a line", (lines) => [...lines.slice(0, -2), lines.at(-2)!.slice(0, 100)], "not JSON"],
    ["lost a run", (lines) => [...lines.slice(0, -2), lines.at(-1)!], "lines are missing"],
    ["goes on after its end", (lines) => [...lines, lines.at(-2)!], "after its end"],
    ["has a changed trail", (lines) => change(lines, "run", /question\.asked/, "question.given"), "was changed"],
    ["has a shorter trail", (lines) => change(lines, "run", /"n":\d+/, '"n":1'), "was changed"],
    [
      "lost a text",
      (lines) => change(lines, "run", /"contents":\[.*?\],"events"/, '"contents":[],"events"'),
      "not whole",
    ],
    [
      "has a wrong state",
      (lines) => change(lines, "run", /"status":"answered"/, '"status":"lost"'),
      "not a line of an export",
    ],
  ])("that %s is refused", async (_what, damage, problem) => {
    const lines = damage(await exported((await aBusyScene()).store));
    await expect(checkExport(each(lines))).rejects.toThrow(problem);
  });

  test("whose session belongs to another run leaves that run out and says so", async () => {
    const lines = await exported((await aBusyScene()).store);
    const other = new Scene();
    await other.startedRun({ session: "s" });
    const { runs, conflicts } = await importLines(other.store, each(lines), ADMIN);
    expect(runs).toBe(3);
    expect(conflicts).toEqual([expect.stringContaining("its session belongs to another run")]);
  });
});
