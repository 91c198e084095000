import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { openEngine } from "../../src/app.ts";
import type { WorkflowSettings } from "../../src/config/workflow.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { readWorkflowFiles } from "../../src/workflow/definition/workflow-folder.ts";
import { Workflows } from "../../src/workflow/run/workflows.ts";
import { GithubServer } from "../channels/github-server.ts";
import { REPO } from "../channels/github-view.ts";
import { SlackServer } from "../channels/slack-server.ts";
import { ADA } from "../builders.ts";
import { until } from "../run-dir.ts";
import { ROOMY } from "../scene.ts";
import { aGitProject } from "./git-project.ts";

/** The issue that gets the label. */
export const ISSUE = 123;

/** How the agents of steps are started. */
interface AgentSetup {
  agents?: WorkflowSettings["agents"];
  env?: Readonly<Record<string, string>>;
  liveWindowMs?: number;
}

/** A project in git with a remote, GitHub and Slack on loopback, and the tools of the workflow as an MCP server. */
export async function anAutofixStage(yaml: string, agent: AgentSetup = {}) {
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
    rules: {
      ...ROOMY,
      reach: [github.reach, slack.reach],
      undoMs: { web: 0, slack: 0, cli: 0, api: 0 },
      liveWindowMs: agent.liveWindowMs ?? ROOMY.liveWindowMs,
    },
    reach: { github: github.settings(), slack: slack.settings },
    runs: {
      stateDir,
      askd: [process.execPath, resolve("bin/askd")],
      env: { PATH: process.env["PATH"], HOME: root, ...agent.env },
      note: (run, text) => void failures.push(`${run}: ${text}`),
      workflows: {
        mcpServers: [{ name: "code", command: [process.execPath, resolve("test/workflow/code-tools.mjs"), journal] }],
        agents: agent.agents ?? {},
        readSecrets: () => ({}),
        secretVariables: [],
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

export function never(): never {
  throw new Error("this cannot be");
}
