import { expect, test } from "vitest";
import { claude } from "./claude/claude.ts";
import { readApiFailure } from "./api-failure.ts";
import { OutputState } from "./runner/output-state.ts";

test.each([
  ["API Error: Repeated 529 Overloaded errors.", 529],
  ["API Error: 401 invalid x-api-key", 401],
  ["exceeded retry limit, last status: 429 Too Many Requests", undefined],
  ["stream disconnected before completion: error sending request", undefined],
])("%s passes", (said, status) => {
  expect(readApiFailure(said, status)).toEqual({ retry: {} });
});

test.each([
  ["API Error: 400 prompt is too long", 400],
  ["bad request", undefined],
])("%s does not pass", (said, status) => {
  expect(readApiFailure(said, status)).toEqual({});
});

test.each([
  ["Claude AI usage limit reached|1763400000", { at: "2025-11-17T17:20:00.000Z" }],
  ["You've hit your usage limit. Try again in 2 days 3 hours.", { afterMs: 51 * 3_600_000 }],
  ["You have exhausted your daily quota. Your quota will reset after 1h2m3s.", { afterMs: 3_723_000 }],
  ["You've hit your limit.", {}],
])("%s is a usage limit with its end", (said, retry) => {
  expect(readApiFailure(said, 429)).toEqual({ reason: "usage_limit", retry });
});

test("Claude Code says in a line of its own when its limit ends", () => {
  const state = new OutputState();
  const lines = [
    { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1763400000 } },
    { type: "result", is_error: true, terminal_reason: "api_error", api_error_status: 429, result: "API Error: 429" },
  ];
  for (const line of lines) state.take(claude.read(JSON.stringify(line)));
  expect(state.ended).toMatchObject({ reason: "usage_limit", retry: { at: "2025-11-17T17:20:00.000Z" } });
});
