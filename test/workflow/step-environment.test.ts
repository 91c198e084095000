import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type WorkflowOptions, openEngine } from "../../src/app.ts";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { findWorkflowSettings } from "../../src/config/workflow.ts";
import type { Values } from "../../src/config/schema.ts";
import { parseCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { readWorkflow } from "../../src/workflow/definition/read-workflow.ts";
import { Workflows } from "../../src/workflow/run/workflows.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { ADA } from "../builders.ts";
import { removeFolder } from "../remove-folder.ts";
import { until } from "../run-dir.ts";
import { ROOMY } from "../scene.ts";
import { aGitProject } from "./git-project.ts";

/** Runs a workflow to its end in a worker with this environment, with real programs. */
async function runToEnd(yaml: string, env: Record<string, string>, workflows: WorkflowOptions) {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-steps-"));
  const { root, project, file } = aGitProject("test.yml", yaml);
  const engine = (await openEngine({
    store: { kind: "sqlite", file: join(stateDir, "askd.db") },
    rules: ROOMY,
    runs: { stateDir, askd: [], env, note: () => undefined, workflows },
  })) as LocalEngine; // it opens a store of its own
  const working = engine.work();
  onTestFinished(async () => {
    await engine.stop();
    await working;
    await removeFolder(stateDir);
    await removeFolder(root);
  });
  const { definition, hash = "" } = readWorkflow(yaml, "test.yml");
  if (!definition) throw new Error("the workflow is not valid");
  const { inside } = engine;
  const started = new Workflows(inside);
  const at = { name: definition.name, host: ensureMachineId(stateDir), dir: project, file, definition: hash };
  const workflow = await started.approve(at, definition, ADA);
  const { id } = await started.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  await until("the run has ended", async () => (await inside.store.findRun(id))?.endedAt !== undefined);
  const run = await inside.store.findRun(id);
  const entry = await inside.store.findEntry("checkpoint", id);
  if (!run || !entry) throw new Error("the run has no checkpoint");
  return { run, checkpoint: parseCheckpoint(entry).checkpoint };
}

const SETTINGS: Values = {
  channels: { telegram: { token_env: "BOT_TOKEN" } },
  hooks: { ci: { secret_env: "CI_SIGNATURE" } },
  mcp_servers: { code: { url: "https://example.com", token_env: "CODE_TOKEN" } },
  audit: { anchor_secret_env: "ANCHOR_SIGNATURE" },
  workflows: { secrets: ["DEPLOY_KEY"] },
};
const NAMED = ["BOT_TOKEN", "CI_SIGNATURE", "CODE_TOKEN", "ANCHOR_SIGNATURE", "DEPLOY_KEY"];

test("a step gets the environment of the worker without the secrets of the settings, and the one that it names", async () => {
  const named = Object.fromEntries(NAMED.map((name) => [name, `value-of-${name.toLowerCase()}`]));
  const env = { PATH: process.env["PATH"] ?? "", WISH: "kept", ...named };
  const yaml = `
name: environment
steps:
  - id: look
    tool: shell
    output: seen
    input:
      argv: ["${process.execPath}", -e, "console.log(JSON.stringify(Object.keys(process.env)))"]
      env: { GIVEN: "{{ secrets.DEPLOY_KEY }}" }
`;
  const { run, checkpoint } = await runToEnd(yaml, env, findWorkflowSettings(SETTINGS, env));
  expect(run.status).toBe("completed");
  const { json } = checkpoint.data["seen"] as { json: string[] };
  expect(json).toEqual(expect.arrayContaining(["PATH", "WISH", "GIVEN", "ASKD_RUN", "ASKD_STORE"]));
  expect(json.filter((name) => NAMED.includes(name))).toEqual([]);
});

test("an http step reaches an address by the rules for addresses of others", async () => {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const step = (id: string, url: string) => `  - { id: ${id}, tool: http, output: ${id}, input: { url: "${url}" } }`;
  const yaml = `name: call\nsteps:\n${step("near", `http://127.0.0.1:${port}/`)}\n${step("private", "http://10.0.0.1/")}\n`;
  const { run, checkpoint } = await runToEnd(yaml, {}, findWorkflowSettings({}, {}));
  expect(checkpoint.data["near"]).toMatchObject({ status: 200, json: { "idempotency-key": `${run.id}:near` } });
  expect(checkpoint.steps["private"]).toMatchObject({ status: "failed" });
});

test("a program works in the tree of its run only", async () => {
  const yaml = `name: out\nsteps: [{ id: look, tool: shell, input: { argv: [ls], dir: "../.." } }]\n`;
  const { run, checkpoint } = await runToEnd(yaml, { PATH: process.env["PATH"] ?? "" }, findWorkflowSettings({}, {}));
  expect(run).toMatchObject({ status: "failed", reason: "bad_input" });
  expect(checkpoint.steps["look"]?.failure?.message).toBe("dir must be a folder of the working tree");
});
