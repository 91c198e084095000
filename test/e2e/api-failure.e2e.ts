import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { HOUR_MS, MINUTE_MS, SECOND_MS, epochMs } from "../../src/core/instant.ts";
import { BackgroundRun } from "./background-run.ts";
import type { ProgramName } from "./install.ts";
import { type Stage, onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

const ENV = { CLAUDE_CODE_MAX_RETRIES: "1" };

/** Asks once, and meets the failure when it goes on with the answer, until the gate is there. */
function failing(gate: string, error: object): object[] {
  return [
    untilTold("answer-one", { call: "ask_human", input: { question: "Which cache?", timeout_seconds: 1 } }),
    { say: "I stop here.", stop: true },
    { say: "Done.", error: { ...error, until: gate } },
  ];
}

async function answered(stage: Stage, program: ProgramName, error: object) {
  const gate = join(stage.root, "gate");
  const steps = failing(gate, error);
  const run = await BackgroundRun.start(stage, { program, steps, window: "1s", env: ENV });
  await run.parked();
  await run.answer(await run.asked(1), "answer-one");
  return { run, openGate: () => writeFileSync(gate, "") };
}

test.concurrent.for<[ProgramName, string, object]>([
  ["claude", "529", { status: 529, type: "overloaded_error", message: "Overloaded" }],
  ["codex", "429", { status: 429, type: "too_many_requests", message: "Too many requests" }],
  ["codex", "401", { status: 401, type: "invalid_request_error", message: "Unauthorized" }],
  ["gemini", "401", { status: 401, type: "UNAUTHENTICATED", message: "Unauthorized" }],
  ["opencode", "401", { status: 401, type: "invalid_request_error", message: "Unauthorized" }],
])("%s goes on by itself after a passing failure of the API: %s", ([program, , error]) =>
  onStage(async (stage) => {
    const { run, openGate } = await answered(stage, program, error);
    const waiting = await run.becomes("it waits for the API", (at) => at.resumesAt !== undefined);
    // Gemini CLI takes back what a failed request sent, so its answer is still owed.
    expect(waiting).toMatchObject({ status: "resuming", owes: program === "gemini" ? [expect.any(String)] : [] });
    openGate();
    await run.completed();
    expect(stage.timesTold("answer-one")).toBe(1);
  }),
);

test.concurrent("codex waits for the end of its usage limit, and goes on at once if a person says so", () =>
  onStage(async (stage) => {
    const endsAtMs = Date.now() + HOUR_MS;
    const more = { plan_type: "plus", resets_at: Math.floor(endsAtMs / SECOND_MS) };
    const error = { status: 429, type: "usage_limit_reached", message: "The usage limit has been reached", more };
    const { run, openGate } = await answered(stage, "codex", error);
    const waiting = await run.becomes("it waits for its limit", (at) => at.resumesAt !== undefined);
    expect(waiting).toMatchObject({ status: "resuming", reason: "usage_limit" });
    expect(Math.abs(epochMs(waiting.resumesAt ?? waiting.createdAt) - endsAtMs)).toBeLessThanOrEqual(MINUTE_MS);
    openGate();
    await stage.type("runs", "resume", String(waiting.number));
    await run.completed();
  }));

test.concurrent("claude that failed for good goes on when a person resumes it", () =>
  onStage(async (stage) => {
    const error = { status: 400, type: "invalid_request_error", message: "not like this" };
    const { run, openGate } = await answered(stage, "claude", error);
    const failed = await run.becomes("it failed", (at) => at.status === "failed");
    openGate();
    await stage.type("runs", "resume", String(failed.number));
    await run.completed();
    expect(stage.timesTold("answer-one")).toBe(1);
  }));
