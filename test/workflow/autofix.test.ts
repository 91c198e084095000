import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { workflowState } from "../../src/core/workflow/workflow-state.ts";
import { parseCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { AUTOFIX } from "../../src/workflow/starter/autofix.ts";
import { REPO } from "../channels/github-view.ts";
import { until } from "../run-dir.ts";
import { ISSUE, anAutofixStage, never } from "./autofix-stage.ts";

test("a label leads to an analysis, a question on GitHub and Slack, and after the answer to a pull request", async () => {
  const stage = await anAutofixStage(AUTOFIX);
  await stage.approve();
  await stage.label("mika");
  const waiting = await stage.untilStatus("awaiting_input");
  expect(waiting).toMatchObject({ name: "autofix", issue: { repo: REPO, number: ISSUE } });
  await until("both were told", () => stage.github.shown().length === 1 && stage.slack.shown().length === 1);
  // An invisible joiner keeps GitHub from linking what others wrote.
  expect(stage.github.shown()[0]?.text).toContain("Which way should #\u2060123 be fixed?");
  await stage.github.say("B", "mika", ISSUE);
  const run = await stage.untilStatus("completed");
  expect(stage.calls()).toEqual([
    { tool: "analyze_issue", input: { issueNumber: ISSUE } },
    { tool: "apply_code_fix", input: { approach: "early" } },
    { tool: "run_checks", input: {} },
  ]);
  const [pull, ...others] = stage.github.pulls.pulls;
  expect(others).toEqual([]);
  expect(pull).toMatchObject({
    base: "main",
    title: "Fix #123: An issue",
    body: expect.stringContaining("Closes #123"),
  });
  expect(stage.git(stage.bare, "show", `${pull?.head}:fix.txt`)).toBe("fixed with early\n");
  const { store } = stage.engine.inside;
  const entry = await store.findEntry("checkpoint", run.id);
  const events = (await stage.engine.readChain(run.id)).map(({ event }) => event);
  const state = workflowState(run, parseCheckpoint(entry ?? never()).checkpoint, events);
  expect(state).toMatchObject({ status: "completed", issueNumber: ISSUE, currentStep: "create_pr" });
  expect(state.history.map(({ type, step }) => (step === undefined ? type : `${type} ${step}`))).toEqual([
    "started",
    "step_completed analyze",
    "suspended",
    "resumed",
    "step_completed check_confidence",
    "step_completed apply_fix",
    "step_completed run_checks",
    "step_completed create_pr",
    "completed",
  ]);
  expect((await stage.engine.verify()).problems).toEqual([]);
}, 60_000);

test("without an answer the issue gets the label and the comment once, and the run is skipped", async () => {
  const stage = await anAutofixStage(AUTOFIX.replace("timeoutHours: 24", "timeoutHours: 0.0003"));
  await stage.approve();
  await stage.label("mika");
  await stage.untilStatus("skipped");
  expect(stage.github.labels.get(ISSUE)).toContain("auto-fix-skip");
  const said = stage.github.comments.filter(({ body }) =>
    body.includes("Skipped due to no response within timeout period."),
  );
  expect(said).toHaveLength(1);
  expect(stage.github.pulls.pulls).toEqual([]);
  expect((await stage.engine.verify()).problems).toEqual([]);
}, 60_000);

test("a label of somebody without write permission, an old label, and a changed file start nothing", async () => {
  const stage = await anAutofixStage(AUTOFIX);
  await stage.approve();
  await stage.label("reader");
  const looked = async () => (await stage.engine.inside.store.listEntries("trigger")).length > 0;
  await until("the labels were looked at", looked);
  expect(await stage.runs()).toEqual([]);
  writeFileSync(stage.file, AUTOFIX.replace("run_checks\n\n", "run_checks\n    retry: 1\n\n"));
  await stage.label("mika");
  const job = async () => (await stage.engine.inside.store.listJobs(10)).find(({ kind }) => kind === "trigger");
  await until("it was looked at again", async () => ((await job())?.dueAt ?? "") > (await stage.engine.now()));
  expect(await stage.runs()).toEqual([]);
  await expect(
    stage.workflows.getApproved({ name: "autofix", host: "elsewhere", dir: "/project" }, "hash"),
  ).rejects.toThrow("is not approved");
}, 60_000);
