import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { QUESTION, runStep } from "../action-step.ts";
import { GithubServer } from "../channels/github-server.ts";

const home = mkdtempSync(join(tmpdir(), "askd-action-crash-"));
mkdirSync(join(home, ".agent"));
writeFileSync(join(home, ".agent/session"), "the session");
afterAll(() => rmSync(home, { recursive: true, force: true }));

const SILENT = { "on-timeout": "skip", "timeout-comment": "Skipped", "timeout-assign": "lena" };
const CARRY = { ...QUESTION, carry: "~/.agent" };

/** Runs steps on a service of its own; a job can be killed when GitHub has taken its nth change. */
async function aStage(inputs: Record<string, string>) {
  const service = await GithubServer.start();
  let doomed: { job: ChildProcess | undefined; changes: number } | undefined;
  service.onTaken = () => {
    if (doomed && (doomed.changes -= 1) === 0) doomed.job?.kill("SIGKILL");
  };
  const step = () => runStep(service, inputs, { env: { HOME: home } });
  const dieAfter = async (changes: number) => {
    const mine: typeof doomed = { job: undefined, changes };
    doomed = mine;
    const { exit } = await runStep(service, inputs, { env: { HOME: home }, onStart: (job) => (mine.job = job) });
    doomed = undefined;
    return exit === null;
  };
  const close = async () => {
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  };
  return { service, step, dieAfter, close };
}

/** Kills a job at its first change, then at its second, and so on until it comes through. */
async function killEverywhere(
  inputs: Record<string, string>,
  act: (stage: Awaited<ReturnType<typeof aStage>>, changes: number) => Promise<boolean>,
) {
  let changes = 1;
  for (let isKilled = true; isKilled; changes += 1) {
    const stage = await aStage(inputs);
    isKilled = await act(stage, changes);
    await stage.close();
  }
  return changes - 2;
}

test("a job that dies at any change while it takes an answer is completed once by the next two, which agree", async () => {
  const kills = await killEverywhere(CARRY, async ({ service, step, dieAfter }, changes) => {
    await step();
    service.add("A", "mika");
    const isKilled = await dieAfter(changes);
    service.add("B", "lena");
    const both = await Promise.all([step(), step()]);
    const states = both.map(({ outputs }) => outputs["state"] ?? "").sort();
    // Whoever died after it had taken the answer goes on when its workflow run is run again.
    expect([
      ["answered", "taken"],
      ["taken", "taken"],
    ]).toContainEqual(states);
    for (const { outputs } of both) expect(outputs).toMatchObject({ answer: "check", "answered-by": "@mika" });
    expect(service.comments[0]?.body).toContain("## ✅ Answered by @\u2060mika: check");
    return isKilled;
  });
  expect(kills).toBeGreaterThanOrEqual(5);
});

test("a job that dies at any change after the deadline leaves each trace once, with the next two", async () => {
  const kills = await killEverywhere(
    { ...QUESTION, ...SILENT, timeout: "1s" },
    async ({ service, step, dieAfter }, changes) => {
      await step();
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const isKilled = await dieAfter(changes);
      service.add("A", "mika");
      const both = await Promise.all([step(), step()]);
      // Times of GitHub have whole seconds: until the record is there, this answer may be in time.
      if (changes < 2) return isKilled;
      for (const { outputs } of both) expect(outputs["answer"]).toBe("");
      expect(service.labels.get(123)).toEqual(["auto-fix-skip"]);
      expect(service.assignees.get(123)).toEqual(["lena"]);
      expect(service.comments.filter(({ body }) => body.startsWith("Skipped"))).toHaveLength(1);
      return isKilled;
    },
  );
  expect(kills).toBeGreaterThanOrEqual(8);
});

test("a job that dies at any change while it asks leaves one question that can be answered", async () => {
  const kills = await killEverywhere(CARRY, async ({ service, step, dieAfter }, changes) => {
    const isKilled = await dieAfter(changes);
    const both = await Promise.all([step(), step()]);
    expect(new Set(both.map(({ outputs }) => outputs["question-id"])).size).toBe(1);
    expect(service.comments).toHaveLength(1);
    service.add("A", "mika");
    expect((await step()).outputs).toMatchObject({ state: "answered", answer: "check", session: "carried" });
    return isKilled;
  });
  expect(kills).toBeGreaterThanOrEqual(5);
});

test("of ten jobs at the same time one wins, in every round", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { service, step, close } = await aStage(QUESTION);
    await Promise.all([step(), step(), step()]);
    expect(service.comments).toHaveLength(1);
    service.add(round % 2 === 0 ? "A" : "B", "mika");
    service.add(round % 2 === 0 ? "B" : "A", "lena");
    const all = await Promise.all(Array.from({ length: 10 }, step));
    const states = all.map(({ outputs }) => outputs["state"] ?? "");
    expect(states.filter((state) => state === "answered")).toHaveLength(1);
    expect(states.filter((state) => state === "taken")).toHaveLength(9);
    expect(new Set(all.map(({ outputs }) => outputs["answer"])).size).toBe(1);
    await close();
  }
});
