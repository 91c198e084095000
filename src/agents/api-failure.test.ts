import { expect, test } from "vitest";
import { claude } from "./claude/claude.ts";
import { readApiFailure } from "./api-failure.ts";
import { opencode } from "./opencode/opencode.ts";
import { OutputState } from "./runner/output-state.ts";

test.each([
  ["API Error: Repeated 529 Overloaded errors.", 529],
  ["API Error: 401 invalid x-api-key", 401],
  ["exceeded retry limit, last status: 429 Too Many Requests", undefined],
  ["stream disconnected before completion: error sending request", undefined],
  ["unexpected status 503 Service Unavailable: upstream", undefined],
  ["exceeded retry limit, last status: 429", undefined],
  ['{"error":{"code":503,"message":"The model is at capacity","status":"UNAVAILABLE"}}', undefined],
  ["[API Error: got status: 500. Try again]", undefined],
  ["API Error: 529", undefined],
  ["APIError: statusCode=502", undefined],
  ["request failed with HTTP 504", undefined],
  ["HTTP/1.1 408", undefined],
  ["503 Service Unavailable", undefined],
  ["401 Unauthorized", undefined],
  ["error code: 520", undefined],
])("%s passes", (said, status) => {
  expect(readApiFailure(said, status)).toEqual({ retry: {} });
});

test.each([
  ["API Error: 400 prompt is too long", 400],
  ["bad request", undefined],
  ["512 tests failed", undefined],
  ["Stopped at line 503 of parser.ts", undefined],
  ["401 files differ", undefined],
  ["expected 500, got 404", undefined],
  ["exit code 429", undefined],
  ["the build took 408 seconds", undefined],
  ["unexpected status 400 Bad Request after 512 tokens", undefined],
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

test.each([
  ["You've hit your limit · resets 3pm (America/New_York)", "2026-11-18T20:01:00.000Z"],
  ["5-hour limit reached ∙ resets 9am (UTC)", "2026-11-19T09:01:00.000Z"],
  ["Claude usage limit reached. Your limit will reset at 3:45pm (Europe/Berlin).", "2026-11-18T14:46:00.000Z"],
  ["You've hit your weekly limit · resets Nov 21 at 12am (UTC)", "2026-11-21T00:01:00.000Z"],
  ["Opus weekly limit reached ∙ resets Oct 9, 3pm (UTC)", "2027-10-09T15:01:00.000Z"],
  ["You've hit your usage limit. Try again at 12:00 PM (UTC).", "2026-11-18T12:01:00.000Z"],
  ["You've hit your usage limit. Try again at Feb 3rd, 2027 5:05 PM (UTC).", "2027-02-03T17:06:00.000Z"],
])("%s ends at that time", (said, at) => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  expect(readApiFailure(said, 429, now)).toEqual({ reason: "usage_limit", retry: { at } });
});

test("a time without a zone is one of this machine", () => {
  const now = new Date(2026, 10, 18, 12).getTime();
  const at = new Date(2026, 10, 18, 15, 1).toISOString();
  expect(readApiFailure("You've hit your session limit · resets 3pm", 429, now).retry).toEqual({ at });
});

test("a limit of requests in a minute is no usage limit", () => {
  expect(readApiFailure("Rate limit reached for gpt-5.2. Please try again in 1.2s.", 429)).toEqual({ retry: {} });
});

test("OpenCode says the status of a failed request beside its message", () => {
  const read = (statusCode: number) =>
    opencode.read(JSON.stringify({ type: "error", error: { name: "APIError", data: { message: "No", statusCode } } }));
  const failed = { status: "failed", reason: "agent_error", summary: "No" };
  expect(read(401)).toEqual([{ kind: "ended", result: { ...failed, retry: {} } }]);
  expect(read(400)).toEqual([{ kind: "ended", result: failed }]);
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
