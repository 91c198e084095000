import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../src/core/instant.ts";
import type { RunResult } from "../src/core/run/run-lifecycle.ts";
import { NOT_LOGGED_IN, RunStatus } from "../src/core/run/run.ts";
import { failLostLaunch, requeueRun } from "../src/core/run/run-ownership.ts";
import { ADA, AGENT } from "./builders.ts";
import { Carried, ME } from "./carried.ts";
import { said } from "./scene.ts";

const KILLED: RunResult = { status: "failed", reason: "agent_killed" };
const unsure = (below: "skip" | "block") => ({ rules: { confidence: { act: undefined, ask: 0.5, below } } });

/** A run whose agent has asked and is gone. */
async function parked(raw: Record<string, unknown> = {}) {
  const at = await new Carried().start();
  const id = await at.asks("Which?", raw);
  await at.end();
  return { at, id };
}

/** Ways of a run, each with the last states that it is to go through. */
const WAYS: Array<[string, string, () => Promise<Carried>]> = [
  [
    "an answer",
    "queued running awaiting_input resuming running completed",
    async () => {
      const { at, id } = await parked();
      await at.engine.answer(id, said("1"), ADA);
      await at.start();
      await at.engine.given(id, "transcript");
      await at.end();
      return at;
    },
  ],
  [
    "an answer that is only stored",
    "running awaiting_input resuming",
    async () => {
      const at = await new Carried().start();
      await at.engine.answer(await at.asks("Which?"), said("1", { resume: false }), ADA);
      await at.end();
      await at.engine.resumeRun(at.id, ADA);
      return at;
    },
  ],
  [
    "a question that is set aside",
    "running awaiting_input deferred resuming",
    async () => {
      const { at, id } = await parked({ timeout: "1m", on_timeout: "defer" });
      await at.pass(MINUTE_MS);
      await at.engine.answer(id, said("1"), ADA);
      return at;
    },
  ],
  [
    "one that is set aside while its agent lives",
    "running deferred",
    async () => {
      const at = await new Carried().start();
      await at.asks("Which?", { timeout: "1m", on_timeout: "defer" });
      await at.pass(MINUTE_MS);
      await at.end(KILLED);
      return at;
    },
  ],
  ...(["fail", "skip"] as const).map((policy): (typeof WAYS)[number] => [
    `a deadline with the policy ${policy}, and an answer after it`,
    `awaiting_input ${policy === "fail" ? "failed" : "skipped"} resuming`,
    async () => {
      const { at, id } = await parked({ timeout: "1m", on_timeout: policy });
      await at.pass(MINUTE_MS);
      await at.engine.answer(id, said("1", { force: true }), ADA);
      return at;
    },
  ]),
  [
    "a deadline while its agent lives",
    "running failed",
    async () => {
      const at = await new Carried().start();
      await at.asks("Which?", { timeout: "1m", hold: "3m" });
      await at.pass(HOUR_MS);
      return at;
    },
  ],
  ...(["skip", "block"] as const).map((below): (typeof WAYS)[number] => [
    `an ask that is too unsure, with the policy ${below}`,
    `running ${below === "skip" ? "skipped" : "blocked"} resuming`,
    async () => {
      const at = await new Carried(unsure(below)).start();
      await at.asks("Which?", { confidence: 0.1 });
      await at.end(KILLED);
      await at.engine.resumeRun(at.id, ADA);
      return at;
    },
  ]),
  [
    "an agent that is not logged in",
    "resuming blocked resuming",
    async () => {
      const { at, id } = await parked();
      await at.engine.answer(id, said("1"), ADA);
      await at.start();
      await at.end({ status: "failed", reason: NOT_LOGGED_IN });
      await at.engine.resumeRun(at.id, ADA);
      return at;
    },
  ],
  [
    "an agent that says that it is blocked",
    "running blocked resuming",
    async () => {
      const at = await new Carried().start();
      await at.end({ status: "blocked" });
      await at.engine.resumeRun(at.id, ADA);
      return at;
    },
  ],
  [
    "starts in silence, and a correction that resumes",
    "resuming failed resuming",
    async () => {
      const { at, id } = await parked();
      await at.engine.answer(id, said("1"), ADA);
      for (let starts = 0; starts < 5; starts += 1) {
        await at.start();
        await at.end(KILLED);
      }
      await at.engine.amend(id, "and a TTL", ADA, { resume: true });
      return at;
    },
  ],
  [
    "a worker that dies before the start",
    "queued running queued",
    async () => {
      const at = await new Carried().start();
      await at.change((read, now) => requeueRun(read, { worker: ME, epoch: 1 }, undefined, now));
      return at;
    },
  ],
  [
    "a launch record that is missing",
    "awaiting_input resuming failed",
    async () => {
      const { at, id } = await parked();
      await at.engine.answer(id, said("1"), ADA);
      await at.change(failLostLaunch);
      return at;
    },
  ],
  [
    "a person who continues its session",
    "completed running",
    async () => {
      const at = await new Carried().start();
      await at.end();
      await at.engine.ask(at.input({ hold: "1m" }), AGENT, { runId: at.id });
      return at;
    },
  ],
  [
    "a person who cancels it",
    "awaiting_input cancelled",
    async () => {
      const { at } = await parked();
      await at.engine.cancelRun(at.id, ADA);
      return at;
    },
  ],
];

test.each(WAYS)("a run goes as its table of states says: %s", async (_, last, play) => {
  const at = await play();
  const chain = await at.engine.readChain(at.id);
  const states = chain.filter(({ event }) => event.questionId === undefined).map(({ event }) => event.to);
  const steps = states.filter((state, index) => state !== states[index - 1]);
  expect(steps.join(" ")).toMatch(new RegExp(`${last}$`));
  const known = readTable();
  expect(steps.slice(1).filter((to, index) => !known.has(`${steps[index]} ${to}`))).toEqual([]);
  expect((await at.engine.verify()).problems).toEqual([]);
});

/** The steps of the table in ARCHITECTURE.md, and that every run which has not ended can be cancelled. */
function readTable(): Set<string> {
  const text = readFileSync("ARCHITECTURE.md", "utf8");
  const [, table = ""] = /\n(\| from +\| to [^]*?)\n\n/.exec(text) ?? [];
  const statesIn = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => RunStatus.parse(name));
  const rows = table.split("\n").slice(2);
  const steps = rows.flatMap((row) => {
    const [, from, to] = row.split("|");
    return statesIn(from).flatMap((one) => statesIn(to).map((other) => `${one} ${other}`));
  });
  return new Set([...steps, ...RunStatus.options.map((status) => `${status} cancelled`)]);
}
