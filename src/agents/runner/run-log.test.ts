import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { epochFile, makeRunDir } from "./run-files.ts";
import { AGENTS } from "../agents.ts";
import { findRunLog } from "./run-log.ts";

const run = aRun({ agent: "command" });
let stateDir: string;
let runDir: string;

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "askd-tail-"));
  runDir = await makeRunDir(stateDir, run.id);
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const textsOf = (part: Awaited<ReturnType<typeof findRunLog>>) => part?.entries.map(({ text }) => text);

test("there is no log where the run was not started", async () => {
  expect(
    await findRunLog({ agents: AGENTS, stateDir }, aRun({ id: "r_00000000000000000000000zzz" as typeof run.id })),
  ).toBeUndefined();
});

test("a reader goes on where it stopped, with whole lines only", async () => {
  const file = epochFile(runDir, 1, "out");
  writeFileSync(file, "one\ntwo\nthr");
  const first = await findRunLog({ agents: AGENTS, stateDir }, run);
  expect(textsOf(first)).toEqual(["one", "two"]);
  expect(textsOf(await findRunLog({ agents: AGENTS, stateDir }, run, first?.next))).toEqual([]);
  appendFileSync(file, "ee\nfour\n");
  const second = await findRunLog({ agents: AGENTS, stateDir }, run, first?.next);
  expect(textsOf(second)).toEqual(["three", "four"]);
  expect(second?.isCut).toBe(false);
});

test("the last line of an agent that is gone is read without its end", async () => {
  writeFileSync(epochFile(runDir, 1, "out"), "one\ntw");
  const first = await findRunLog({ agents: AGENTS, stateDir }, run);
  writeFileSync(epochFile(runDir, 2, "out"), "three\nfo");
  const second = await findRunLog({ agents: AGENTS, stateDir }, run, first?.next);
  expect(textsOf(second)).toEqual(["tw", "2", "three"]);
  const ended = { ...run, status: "completed" as const };
  const last = await findRunLog({ agents: AGENTS, stateDir }, ended, second?.next);
  expect(textsOf(last)).toEqual(["fo"]);
  expect(textsOf(await findRunLog({ agents: AGENTS, stateDir }, ended, last?.next))).toEqual([]);
});

test("a new start of the agent is told, and read from its beginning", async () => {
  writeFileSync(epochFile(runDir, 1, "out"), "before\n");
  const first = await findRunLog({ agents: AGENTS, stateDir }, run);
  writeFileSync(epochFile(runDir, 2, "out"), "after\n");
  const second = await findRunLog({ agents: AGENTS, stateDir }, run, first?.next);
  expect(second?.entries).toEqual([
    { kind: "start", text: "2" },
    { kind: "text", text: "after" },
  ]);
  expect(await findRunLog({ agents: AGENTS, stateDir }, run)).toMatchObject({
    entries: [{ text: "after" }],
    isCut: true,
  });
});

test("of a long log the end is read, and what comes after it part by part", async () => {
  const file = epochFile(runDir, 1, "out");
  const line = `${"x".repeat(99)}\n`;
  writeFileSync(file, line.repeat(5_000));
  const first = await findRunLog({ agents: AGENTS, stateDir }, run);
  expect(first?.isCut).toBe(true);
  expect(first?.entries).toHaveLength(300);
  appendFileSync(file, line.repeat(2_000));
  let [seen, next] = [0, first?.next];
  for (let parts = 0; parts < 10; parts += 1) {
    const part = await findRunLog({ agents: AGENTS, stateDir }, run, next);
    seen += part?.entries.length ?? 0;
    next = part?.next;
  }
  expect(seen).toBe(2_000);
});

test("pieces of words are put together, also over the place where a reader stopped", async () => {
  const piece = (text: string) =>
    `${JSON.stringify({ type: "message", role: "assistant", content: text, delta: true })}\n`;
  const gemini = { ...run, agent: "gemini" };
  const file = epochFile(runDir, 1, "out");
  writeFileSync(file, piece("Hel") + piece("lo wo"));
  const first = await findRunLog({ agents: AGENTS, stateDir }, gemini);
  expect(first?.entries).toEqual([{ kind: "text", text: "Hello wo" }]);
  appendFileSync(file, piece("rld\nNext"));
  expect((await findRunLog({ agents: AGENTS, stateDir }, gemini, first?.next))?.entries).toEqual([
    { kind: "text", text: "rld", isJoined: true },
    { kind: "text", text: "Next" },
  ]);
});
