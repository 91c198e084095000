import { expect, test } from "vitest";
import { githubTracker } from "../../src/channels/github/issue-tracker.ts";
import { HOUR_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { WorkflowStage } from "./stage.ts";

const ONE = "name: one\nsteps: [{ id: look, tool: shell, input: { argv: [look, '{{ issue.title }}'] } }]";
const ISSUE = {
  number: 7,
  title: "Broken",
  labels: [],
  html_url: "https://github.com/acme/shop/issues/7",
  updated_at: "x",
};

/** A stage whose GitHub replies with these statuses, and then with the issue. */
function aStage(...statuses: number[]) {
  const replies = [...statuses];
  const fetch = () => {
    const status = replies.shift() ?? 200;
    return Promise.resolve(Response.json(status === 200 ? ISSUE : { message: "Not Found" }, { status }));
  };
  const settings = {
    url: "https://api.github.com",
    repos: ["acme/shop"],
    fallback: undefined,
    teams: [],
    mention: [],
    visibility: "full" as const,
    pollMs: 60_000,
    writeMs: 0,
    readToken: () => "token",
    app: undefined,
    readHookSecret: () => undefined,
  };
  return new WorkflowStage({ tracker: githubTracker(settings, { fetch, nowMs: () => 0 }) });
}

test.each([404, 410, 403])("a run for an issue that GitHub answers with %i fails, and says why", async (status) => {
  const stage = aStage(status);
  const run = await stage.start(ONE, { issue: { repo: "acme/shop", number: 7 } });
  expect(run).toMatchObject({ status: "failed", reason: "no_issue" });
  expect(run.result?.summary).toContain(`The issue acme/shop#7 cannot be read`);
  expect(stage.ran).toEqual([]);
});

test("a run for an issue of a repository that the settings do not name fails, and says why", async () => {
  const run = await aStage().start(ONE, { issue: { repo: "acme/other", number: 7 } });
  expect(run).toMatchObject({ status: "failed", reason: "no_issue" });
  expect(run.result?.summary).toContain("channels.github.repos does not name acme/other");
});

test("a run waits while GitHub does not reply, and begins with the issue", async () => {
  const stage = aStage(502, 502);
  const run = await stage.start(ONE, { issue: { repo: "acme/shop", number: 7 } });
  expect(run.status).toBe("queued");
  await stage.pass(HOUR_MS);
  await stage.pass(HOUR_MS);
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  expect(stage.ran).toEqual([["look", "Broken"]]);
});

test("a run that failed because of its issue begins with it when it is repeated", async () => {
  const stage = aStage(404);
  const run = await stage.start(ONE, { issue: { repo: "acme/shop", number: 7 } });
  await stage.workflows.retry(run.id, undefined, ADA);
  await stage.doDue();
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  expect(stage.ran).toEqual([["look", "Broken"]]);
});
