import { expect, test } from "vitest";
import { claude } from "../claude/claude.ts";
import { OutputState } from "./output-state.ts";
import { totalUsage } from "./usage-meter.ts";

const model = (costUSD: number, inputTokens: number, outputTokens: number) => ({
  m: { costUSD, inputTokens, outputTokens },
});

/** The usage of a run after one more process of Claude Code that printed these lines. */
function use(before: object, ...lines: object[]) {
  const state = new OutputState();
  for (const line of lines) state.take(claude.read(JSON.stringify(line)));
  return totalUsage(before, state.usage);
}

test("the cost of a session that Claude Code up to 2.1.260 counts for each process is added up", () => {
  const end = (cost: number, turns: number) => ({
    type: "result",
    num_turns: turns,
    total_cost_usd: cost,
    modelUsage: model(cost, 1000, 50),
  });
  const once = use({}, end(0.008052, 3));
  expect(use(once, end(0.006123, 2))).toEqual({ turns: 5, costUsd: 0.014175, inputTokens: 2000, outputTokens: 100 });
});

test("the cost that Claude Code 2.1.325 counts over all resumes is counted once", () => {
  const end = (cost: number, turns: number, recent: object) => ({
    type: "result",
    num_turns: turns,
    total_cost_usd: cost,
    modelUsage: model(cost, 9999, 9999),
    model_usage_since_last_result: recent,
  });
  const once = use({}, end(0.0045, 3, model(0.0045, 813, 62)));
  const twice = use(once, end(0.0085, 2, model(0.004, 826, 35)));
  expect(twice).toEqual({ turns: 5, costUsd: 0.0085, inputTokens: 1639, outputTokens: 97 });
  expect(use(twice, end(0.0085, 17, {}))).toEqual(twice); // parked again without a word of the model
});

test("turns of Claude Code are counted while it works, and its cost is unknown until it says it", () => {
  const said = (id: string) => ({ type: "assistant", message: { id, content: [{ type: "text", text: "…" }] } });
  expect(use({}, said("m1"), said("m1"), said("m2"))).toEqual({ turns: 2 });
  const end = { type: "result", num_turns: 3, total_cost_usd: 0.01, modelUsage: {} };
  expect(use({}, said("m1"), said("m2"), end)).toMatchObject({ turns: 3, costUsd: 0.01 });
});
