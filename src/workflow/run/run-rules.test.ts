import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { aGitProject } from "../../../test/workflow/git-project.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { aToolServer } from "../../../test/workflow/tool-server.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { IssueTracker } from "../../core/workflow/issue-tracker.ts";
import { openRunTree, publishRunTree } from "../../agents/workspace/run-tree.ts";
import { request } from "../../engine/outbound/post.ts";

const ASKING = `
name: ask
steps:
  - { id: first, tool: shell, input: { argv: [first] } }
  - { id: which, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true, output: choice }
  - { id: middle, tool: shell, input: { argv: [middle] } }
  - { id: paint, tool: shell, input: { argv: [paint, "{{ choice.answer }}"] } }
`;

test("a run keeps the definition that it began with, whatever is approved meanwhile", async () => {
  const stage = new WorkflowStage();
  const old = await stage.start(ASKING);
  const next = await stage.start(ASKING.replaceAll("paint", "print"));
  await stage.answer(old, "Blue");
  await stage.answer(next, "Red");
  expect(stage.ran.filter(([word]) => word === "paint" || word === "print")).toEqual([
    ["paint", "Blue"],
    ["print", "Red"],
  ]);
  await stage.workflows.retry(old.id, "paint", ADA);
  await stage.doDue();
  expect(stage.ran.at(-1)).toEqual(["paint", "Blue"]);
});

describe("goto", () => {
  test("skips the steps before its own", async () => {
    const stage = new WorkflowStage();
    const run = await stage.start(`${ASKING}on_resume: { goto: paint }\n`);
    await stage.answer(run, "Blue");
    expect(stage.ran).toEqual([["first"], ["paint", "Blue"]]);
    expect((await stage.checkpoint(run)).steps["middle"]).toBeUndefined();
  });

  test.each(["first", "which"])("to %s, which is not after the question, is refused", async (step) => {
    await expect(new WorkflowStage().start(`${ASKING}on_resume: { goto: ${step} }\n`)).rejects.toThrow(step);
  });
});

describe("runs with the same key", () => {
  const keyed = (whenBusy: string) =>
    `inputs: { service: { required: true } }\nconcurrency: { key: "{{ inputs.service }}", when_busy: ${whenBusy} }${ASKING}`;
  const shop = { inputs: { service: "shop" } };

  test("wait for each other; others do not", async () => {
    const stage = new WorkflowStage();
    const first = await stage.start(keyed("wait"), shop);
    const second = await stage.start(keyed("wait"), shop);
    const other = await stage.start(keyed("wait"), { inputs: { service: "mail" } });
    expect([first, second, other].map(({ status }) => status)).toEqual(["awaiting_input", "queued", "awaiting_input"]);
    await stage.answer(first, "Red");
    await stage.pass(60 * SECOND_MS);
    expect(await stage.run(second.id)).toMatchObject({ status: "awaiting_input" });
  });

  test("are refused while one is live, with skip", async () => {
    const stage = new WorkflowStage();
    const first = await stage.start(keyed("skip"), shop);
    await expect(stage.start(keyed("skip"), shop)).rejects.toMatchObject({ code: "already_pending" });
    await stage.answer(first, "Red");
    expect(await stage.start(keyed("skip"), shop)).toMatchObject({ status: "awaiting_input" });
  });

  test("replace the one that is live, with cancel", async () => {
    const stage = new WorkflowStage();
    const first = await stage.start(keyed("cancel"), shop);
    const second = await stage.start(keyed("cancel"), shop);
    expect(await stage.run(first.id)).toMatchObject({ status: "cancelled", reason: "replaced" });
    expect(second).toMatchObject({ status: "awaiting_input" });
    expect(await stage.engine.countQuestions("pending")).toBe(1);
  });
});

describe("a run that is repeated", () => {
  test("does the named step and those after it, with what the others gave", async () => {
    const stage = new WorkflowStage();
    const run = await stage.start(ASKING);
    await stage.answer(run, "Blue");
    await stage.workflows.retry(run.id, "middle", ADA);
    await stage.doDue();
    expect(stage.ran.map(([word]) => word)).toEqual(["first", "middle", "paint", "middle", "paint"]);
    expect(stage.ran.at(-1)).toEqual(["paint", "Blue"]);
    expect((await stage.engine.verify()).problems).toEqual([]);
  });

  test("cannot begin at a step that is not there, nor while it is live", async () => {
    const stage = new WorkflowStage();
    const run = await stage.start(ASKING);
    await expect(stage.workflows.retry(run.id, "first", ADA)).rejects.toMatchObject({ code: "not_pending" });
    await stage.answer(run, "Blue");
    await expect(stage.workflows.retry(run.id, "frist", ADA)).rejects.toMatchObject({
      code: "bad_input",
      hint: expect.stringContaining("it has: first, which, middle, paint"),
    });
    await expect(stage.workflows.retry(run.id, undefined, ADA)).rejects.toThrow("has no step to repeat");
  });
});

test("a step that takes longer than it may is stopped, and fails with that reason and the end of its output", async () => {
  const stage = new WorkflowStage({
    script: ({ argv, signal }) =>
      argv[0] === "slow"
        ? new Promise((resolve) =>
            signal.addEventListener("abort", () => resolve({ exitCode: 143, stdout: "test 1\ntest 2\n", stderr: "" })),
          )
        : { exitCode: 0, stdout: "", stderr: "" },
  });
  const workflow = await stage.approve(`
name: slow
steps: [{ id: slow, tool: shell, timeout: 1s, input: { argv: [slow] } }]
on_failure: { tool: shell, input: { argv: [tell, "{{ error.code }}", "{{ error.output }}"] } }
`);
  const run = await stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  const ended = stage.ended(run.id);
  await stage.engine.doDue();
  await ended;
  expect(await stage.run(run.id)).toMatchObject({ status: "failed", reason: "step_timeout" });
  expect(stage.ran).toEqual([["slow"], ["tell", "step_timeout", "test 1\ntest 2"]]);
}, 30_000);

test("a pull request without a change fails its step with that reason, and is not tried again", async () => {
  let tries = 0;
  const publishTree = () => Promise.resolve((tries += 1) < 0);
  // No pull request is opened.
  const tracker = { repos: ["acme/shop"] } as unknown as IssueTracker;
  const stage = new WorkflowStage({ tracker, outside: { publishTree } });
  const run = await stage.start("name: none\nsteps: [{ id: pr, tool: github_create_pr, retry: 3 }]\n");
  expect(run).toMatchObject({ status: "failed", reason: "nothing_changed" });
  expect(tries).toBe(1);
});

test.each([
  ["http://127.0.0.1:9/", "this machine"],
  ["https://127.0.0.1:9/", "this machine"],
  ["http://example.com/", "plain http"],
  ["https://10.0.0.1/", "a private network"],
  ["https://169.254.169.254/latest/meta-data", "the metadata of a cloud"],
  ["https://[::1]:9/", "this machine by IPv6"],
])("the http tool does not connect to %s, which is %s", async (url) => {
  const outbound = { allowLoopback: false };
  const stage = new WorkflowStage({
    outside: { request: ({ url: to, ...asked }) => request(to, asked, outbound) },
  });
  const run = await stage.start(`name: out\nsteps: [{ id: out, tool: http, input: { url: "${url}" } }]\n`);
  expect(run).toMatchObject({ status: "failed", result: { summary: expect.stringMatching(/^Step out: /) } });
  expect(run.result?.summary).not.toMatch(/ECONNREFUSED|timed out/);
});

describe("a tool of an MCP server", () => {
  const command = [process.execPath, resolve("test/workflow/code-tools.mjs")];
  const servers = ["one", "two"].map((name) => ({ name, command }));
  const inHere = { mcpServers: servers, openTree: () => Promise.resolve({ dir: process.cwd(), branch: undefined }) };

  test.each([
    ["analyze_issue", "ambiguous_tool", "one.analyze_issue, two.analyze_issue"],
    ["one.analyse_issue", "unknown_tool", "has the tool one.analyse_issue"],
  ])("%s fails its step with %s", async (tool, reason, said) => {
    const stage = new WorkflowStage({ outside: inHere });
    const run = await stage.start(`name: mcp\nsteps: [{ id: call, tool: ${tool} }]\n`);
    expect(run).toMatchObject({ status: "failed", reason, result: { summary: expect.stringContaining(said) } });
  });

  test("that several have is called at the server that is named", async () => {
    const stage = new WorkflowStage({ outside: inHere });
    const run = await stage.start("name: mcp\nsteps: [{ id: call, tool: two.analyze_issue, output: found }]\n");
    expect(run).toMatchObject({ status: "completed" });
    expect((await stage.checkpoint(run)).data["found"]).toMatchObject({ confidence: 62 });
  });

  const MEASURE = "name: mcp\nsteps: [{ id: call, tool: measure_text, input: { text: four }, output: found }]\n";

  test("over HTTP is called with the token of the settings", async () => {
    const { url, headers } = await aToolServer();
    const stage = new WorkflowStage({ outside: { ...inHere, mcpServers: [{ name: "measure", url, headers }] } });
    const run = await stage.start(MEASURE);
    expect(run).toMatchObject({ status: "completed" });
    expect((await stage.checkpoint(run)).data["found"]).toEqual({ length: 4 });
  });

  test("over HTTP that refuses the token fails its step with not_connected, without the token", async () => {
    const { url } = await aToolServer();
    const headers = { authorization: "Bearer of-somebody-else" };
    const stage = new WorkflowStage({ outside: { ...inHere, mcpServers: [{ name: "measure", url, headers }] } });
    const run = await stage.start(MEASURE);
    expect(run).toMatchObject({ status: "failed", reason: "not_connected" });
    expect(run.result?.summary).toContain("The MCP server measure does not start");
    expect(run.result?.summary).not.toContain("somebody-else");
  });
});

test("two runs work in trees of their own, and each publishes its own branch", async () => {
  const { root, bare, project, git } = aGitProject("w.yml", "name: w\nsteps: []\n");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [one, two] = await Promise.all([openRunTree(project, "w-one"), openRunTree(project, "w-two")]);
  expect(one.dir).not.toBe(two.dir);
  mkdirSync(join(one.dir, "src"));
  writeFileSync(join(one.dir, "src", "a.txt"), "one\n");
  writeFileSync(join(two.dir, "b.txt"), "two\n");
  expect(await Promise.all([publishRunTree(one, "One"), publishRunTree(two, "Two")])).toEqual([true, true]);
  expect(git(bare, "diff", "--name-only", "main", "askd/w-one")).toBe("src/a.txt\n");
  expect(git(bare, "diff", "--name-only", "main", "askd/w-two")).toBe("b.txt\n");
  expect(git(project, "status", "--porcelain")).toBe("");
  const three = await openRunTree(project, "w-three");
  expect(await publishRunTree(three, "Three")).toBe(false);
});

test("a run with a tool that nothing has does none of its steps", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`
name: unknown
steps:
  - { id: begin, tool: shell, input: { argv: [begin] } }
  - { id: measure, tool: measure_it }
`);
  expect(run).toMatchObject({ status: "failed", reason: "unknown_tool" });
  expect(run.result?.summary).toBe("There is no tool measure_it, and the settings have no MCP server");
  expect(stage.ran).toEqual([]);
});
