import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { AGENTS } from "../agents.ts";
import { findKeptLaunch, makeRunDir } from "./run-files.ts";
import { type AgentSettings, stepAgents } from "./step-agents.ts";

/** Prepares an agent whose program is there, with these settings. */
async function prepare(agent: string, own: AgentSettings, budgetUsd?: number) {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-agent-"));
  onTestFinished(() => removeFolder(stateDir));
  const settings = { [agent]: { argv: [process.execPath], ...own } };
  const outside = stepAgents({ stateDir, registry: AGENTS, settings, env: {}, liveWindowMs: 1_000 });
  const { id: runId } = aRun();
  await outside.prepareAgent({ runId, agent, prompt: "Do it", dir: stateDir, budgetUsd });
  return findKeptLaunch(await makeRunDir(stateDir, runId));
}

test.each([
  ["codex", {}, 5, "The budget of the workflow or step cannot be kept"],
  ["gemini", {}, 5, "The budget of the workflow or step cannot be kept"],
  ["codex", { budget: 2 }, undefined, "The setting budget cannot be kept"],
  ["nightly", { max_turns: 4 }, undefined, "The setting max_turns cannot be kept"],
])("the limits of a step's agent that nothing keeps are refused: %s", async (agent, own, budgetUsd, message) => {
  await expect(prepare(agent, own, budgetUsd)).rejects.toThrow(message);
});

test("the lower limit of the step and the settings is kept by an agent that has limits", async () => {
  expect((await prepare("claude", { budget: 2, max_turns: 9 }, 5))?.options).toMatchObject({
    budgetUsd: 2,
    maxTurns: 9,
  });
});
