import { describe, expect, test } from "vitest";
import { AGENT } from "../../../../test/builders.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { shortId } from "../../../core/id.ts";
import { SYSTEM } from "../../../core/people/actor.ts";

/** Fields that document 001 names, in its case. */
const OF_DOCUMENT = new Set(["questionContext", "humanResponse", "humanRespondedAt"]);
/** Objects whose keys are names that people or agents chose. */
const NAMED = new Set(["answers", "schema"]);

function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...(NAMED.has(key) ? [] : keysIn(inner))]);
}

async function asked() {
  const scene = new Scene({ rules: { addresses: { slack: ["#agents"] } } });
  const run = await scene.startedRun();
  const raw = {
    issueNumber: 123,
    notifyVia: ["github", "slack", "email"],
    slackChannel: "#agents",
    slackMention: ["@ada"],
    emailRecipients: ["ada@example.com"],
    on_timeout: { type: "escalate", steps: [{ after: "30m", to: ["lena"], channels: ["slack"] }], then: "fail" },
  };
  await scene.engine.ask(scene.input(raw), AGENT, { runId: run.id });
  return { scene, run };
}

describe("askd show", () => {
  test("prints the details and issues that the agent reported", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const result = {
      summary: "Half done",
      details: "The cache works.\nThe tests do not.",
      issues: ["no Redis", "slow"],
    };
    await scene.engine.endRun(run.id, { status: "blocked", ...result }, AGENT);
    expect((await type(scene, ["show", "1"])).stdout).toContain(
      "Summary: Half done\nDetails:\n  The cache works.\n  The tests do not.\nIssues:\n  - no Redis\n  - slow\n",
    );
  });

  test("prints whom a question notifies and which issue it is about, and so does its JSON", async () => {
    const { scene } = await asked();
    const { stdout } = await type(scene, ["show", "1"]);
    expect(stdout).toContain("Issue: #123");
    expect(stdout).toContain(
      "Asks to notify: github #123, slack #agents (mentions @ada), email (the address is not allowed by the settings and was ignored).",
    );
    const shown = JSON.parse((await type(scene, ["show", "1", "--json"])).stdout) as { questions: unknown[] };
    expect(shown.questions[0]).toMatchObject({
      issue: { repo: null, number: 123 },
      notify: [
        { channel: "github", address: "123", mention: [] },
        { channel: "slack", address: "#agents", mention: ["@ada"] },
        { channel: "email", address: null, address_ignored: true, mention: [] },
      ],
    });
  });

  test("has JSON in snake_case but for the fields that document 001 names", async () => {
    const { scene } = await asked();
    for (const argv of [
      ["show", "1", "--json", "--agent-view"],
      ["status", "--json"],
      ["list", "--json"],
    ]) {
      const keys = keysIn(JSON.parse((await type(scene, argv)).stdout));
      expect(keys.length).toBeGreaterThan(20);
      expect(keys.filter((key) => /[A-Z]/.test(key) && !OF_DOCUMENT.has(key))).toEqual([]);
    }
  });
});

test("votes that can never be enough are said by show, status and list, with the way out", async () => {
  const scene = new Scene();
  await scene.know("lena", "mika");
  const { question } = await scene.ask({
    question: "Deploy?",
    kind: "approval",
    options: undefined,
    approvals: { need: 2, from: ["lena", "mika"] },
  });
  await scene.engine.removePerson("lena", {}, SYSTEM);
  for (const argv of [["show", question.id], ["status"]]) {
    const { stdout } = await type(scene, argv);
    expect(stdout).toContain(`Too few of lena, mika are left to decide it`);
    expect(stdout).toContain(`askd cancel ${shortId(question.id)}`);
    expect(stdout).not.toContain("askd answer");
  }
  expect((await type(scene, ["list"])).stdout).toContain("no quorum");
});
