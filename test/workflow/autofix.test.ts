import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { openEngine } from "../../src/app.ts";
import { workflowState } from "../../src/core/workflow/workflow-state.ts";
import { parseCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { readWorkflowFiles } from "../../src/workflow/definition/workflow-folder.ts";
import { Workflows } from "../../src/workflow/run/workflows.ts";
import { AUTOFIX } from "../../src/workflow/starter/autofix.ts";
import { GithubServer } from "../channels/github-server.ts";
import { REPO } from "../channels/github-view.ts";
import { SlackServer } from "../channels/slack-server.ts";
import { ADA } from "../builders.ts";
import { until } from "../run-dir.ts";
import { ROOMY } from "../scene.ts";
import { aGitProject } from "./git-project.ts";

const ISSUE = 123;

/** A project in git with a remote, GitHub and Slack on loopback, and the tools of the workflow as an MCP server. */
async function aStage(yaml: string) {
  const { root, bare, project, file, git } = aGitProject("autofix.yml", yaml);
  const journal = join(root, "journal");
  const github = await GithubServer.start();
  github.pulls.remote = bare;
  const slack = await SlackServer.start();
  const stateDir = join(root, "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const failures: string[] = [];
  const engine = (await openEngine({
    store: { kind: "sqlite", file: join(root, "askd.db") },
    rules: { ...ROOMY, reach: [github.reach, slack.reach], undoMs: { web: 0, slack: 0, cli: 0, api: 0 } },
    reach: { github: github.settings(), slack: slack.settings },
    runs: {
      stateDir,
      askd: [process.execPath, resolve("bin/askd")],
      env: { PATH: process.env["PATH"], HOME: root },
      note: (run, text) => void failures.push(`${run}: ${text}`),
      workflows: {
        mcpServers: [{ name: "code", command: [process.execPath, resolve("test/workflow/code-tools.mjs"), journal] }],
        agents: {},
        readSecrets: () => ({}),
      },
    },
  })) as LocalEngine; // it opens a store of its own
  const working = engine.work();
  onTestFinished(async () => {
    await engine.stop();
    await working;
    await github.close();
    await slack.traffic.close();
    rmSync(root, { recursive: true, force: true });
    expect(github.traffic.problems).toEqual([]);
  });
  const workflows = new Workflows(engine.inside);
  const [found] = await readWorkflowFiles([file], { cwd: project });
  if (!found?.definition || found.hash === undefined) throw new Error(JSON.stringify(found?.problems));
  const place = { name: "autofix", host: ensureMachineId(stateDir), dir: project, file, repo: REPO };
  const approve = () => workflows.approve({ ...place, definition: found.hash ?? "" }, found.definition ?? never(), ADA);
  const label = async (login: string) => {
    github.issues.addLabel(ISSUE, "auto-fix", login);
    const { body, headers } = github.labelledEvent(ISSUE, "auto-fix", login);
    const header = (name: string) => new Headers(headers).get(name) ?? undefined;
    await (
      await engine.receiveHook("github", { body, header })
    ).taken;
  };
  const runs = () => engine.listRuns({ order: "oldest", limit: 10 });
  const untilStatus = async (status: Run["status"]) => {
    await until(`a run is ${status}: ${failures.join("; ")}`, async () => (await runs())[0]?.status === status);
    const [run] = await runs();
    if (!run) throw new Error("there is no run");
    return run;
  };
  const calls = () =>
    existsSync(journal)
      ? readFileSync(journal, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as { tool: string; input: unknown })
      : [];
  return { engine, github, slack, workflows, approve, label, runs, untilStatus, calls, bare, file, git };
}

function never(): never {
  throw new Error("this cannot be");
}

test("a label leads to an analysis, a question on GitHub and Slack, and after the answer to a pull request", async () => {
  const stage = await aStage(AUTOFIX);
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
  const stage = await aStage(AUTOFIX.replace("timeoutHours: 24", "timeoutHours: 0.0003"));
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
  const stage = await aStage(AUTOFIX);
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
