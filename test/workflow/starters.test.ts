import { describe, expect, test } from "vitest";
import { HOUR_MS } from "../../src/core/instant.ts";
import type { IssueTracker, PullInput } from "../../src/core/workflow/issue-tracker.ts";
import { DEPENDENCY_UPDATES } from "../../src/workflow/starter/dependency-updates.ts";
import { INCIDENT_TRIAGE } from "../../src/workflow/starter/incident-triage.ts";
import { NIGHTLY_REFACTORING } from "../../src/workflow/starter/nightly-refactoring.ts";
import { RELEASE_APPROVAL } from "../../src/workflow/starter/release-approval.ts";
import { WorkflowStage } from "./stage.ts";

/** A stage with a service that takes pull requests; the document's autofix runs with its tools in autofix.test.ts. */
function aStage() {
  const pulls: PullInput[] = [];
  const openPull = (input: PullInput) => {
    pulls.push(input);
    return Promise.resolve({ number: pulls.length, url: `https://example.com/${pulls.length}` });
  };
  // Only pull requests are made.
  const tracker = { repos: ["acme/shop"], openPull } as unknown as IssueTracker;
  const script = ({ argv }: { argv: readonly string[] }) => ({
    exitCode: 0,
    stdout: argv[0] === "git" ? "1a2b3c Fix the cart\n" : "",
    stderr: "",
  });
  return { stage: new WorkflowStage({ tracker, script }), pulls };
}

async function titleOf(stage: WorkflowStage, id: Parameters<WorkflowStage["run"]>[0]): Promise<string | undefined> {
  const { pendingId } = await stage.run(id);
  return pendingId && (await stage.store.findQuestion(pendingId))?.title;
}

describe("dependency updates", () => {
  test("updates what is minor without asking", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(DEPENDENCY_UPDATES);
    expect(stage.agents[0]).toMatchObject({ agent: "claude", budgetUsd: 5 });
    await stage.endAgent({ output: { minor: ["zod"], major: [] }, costUsd: 1 });
    expect(stage.agents[1]).toMatchObject({ budgetUsd: 4 });
    expect(stage.agents[1]?.prompt).toContain('"zod"');
    await stage.endAgent({ summary: "Updated zod" });
    expect(await stage.run(run.id)).toMatchObject({ status: "completed", asked: 0 });
    expect(stage.ran).toEqual([["npm", "test"]]);
    expect(pulls).toMatchObject([{ title: "Update dependencies", head: "askd/tree", repo: "acme/shop" }]);
  });

  test("asks about major versions, and takes none if nobody answers", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(DEPENDENCY_UPDATES);
    await stage.endAgent({ output: { minor: [], major: ["zod"] } });
    expect(await titleOf(stage, run.id)).toBe("Which new major versions do you want?");
    await stage.pass(49 * HOUR_MS);
    expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
    expect(stage.agents).toHaveLength(1);
    expect(pulls).toEqual([]);
  });

  test("updates major versions that somebody wants", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(DEPENDENCY_UPDATES);
    await stage.endAgent({ output: { minor: [], major: ["zod"] } });
    await stage.answer(run, "all");
    await stage.endAgent({ summary: "Updated zod" });
    expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
    expect(pulls).toHaveLength(1);
  });
});

describe("nightly refactoring", () => {
  const CHOSEN = { file: "src/cart.ts", plan: "Split it" };

  test("goes on alone if the agent is sure", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(NIGHTLY_REFACTORING);
    await stage.endAgent({ output: { ...CHOSEN, confidence: 90 }, costUsd: 1 });
    expect(stage.agents[1]).toMatchObject({ budgetUsd: 2 });
    await stage.endAgent({ summary: "Split" });
    expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
    expect(pulls).toMatchObject([{ title: "Refactor src/cart.ts", isDraft: true }]);
  });

  test("asks if it is not, and leaves the file if somebody says so", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(NIGHTLY_REFACTORING);
    await stage.endAgent({ output: { ...CHOSEN, confidence: 50 } });
    expect(await titleOf(stage, run.id)).toBe("Refactor src/cart.ts?");
    expect(await stage.answer(run, "stop")).toMatchObject({ status: "completed" });
    expect([stage.agents.length, pulls]).toEqual([1, []]);
  });

  test("starts no second agent in a day that has used up its budget", async () => {
    const { stage } = aStage();
    await stage.start(NIGHTLY_REFACTORING);
    await stage.endAgent({ output: { ...CHOSEN, confidence: 90 }, costUsd: 3 });
    expect(await stage.start(NIGHTLY_REFACTORING)).toMatchObject({ status: "failed", reason: "budget_used" });
  });
});

describe("release approval", () => {
  const inputs = { version: "1.4.0" };

  test("checks, asks, tags and pushes", async () => {
    const { stage } = aStage();
    const run = await stage.start(RELEASE_APPROVAL, { inputs });
    expect(await titleOf(stage, run.id)).toBe("Release 1.4.0?");
    expect(await stage.answer(run, "release")).toMatchObject({ status: "completed" });
    expect(stage.ran.map((argv) => argv.join(" ")).toSorted()).toEqual([
      "git log --oneline -n 30",
      "git push origin v1.4.0",
      "git tag --force v1.4.0",
      "npm audit --omit=dev --audit-level=high",
      "npm test",
    ]);
    expect((await stage.engine.verify()).problems).toEqual([]);
  });

  test("tags nothing if nobody wants it, nor if nobody answers", async () => {
    const { stage } = aStage();
    const run = await stage.start(RELEASE_APPROVAL, { inputs });
    expect(await stage.answer(run, "stop")).toMatchObject({ status: "completed" });
    const silent = await stage.start(RELEASE_APPROVAL, { inputs: { version: "1.5.0" } });
    await stage.pass(25 * HOUR_MS);
    expect(await stage.run(silent.id)).toMatchObject({ status: "skipped" });
    expect(stage.ran.flat()).not.toContain("tag");
  });

  test("runs once at a time for a version, and needs one", async () => {
    const { stage } = aStage();
    await stage.start(RELEASE_APPROVAL, { inputs });
    await expect(stage.start(RELEASE_APPROVAL, { inputs })).rejects.toThrow("has the same key");
    await expect(stage.start(RELEASE_APPROVAL)).rejects.toThrow("needs the input version");
  });
});

describe("incident triage", () => {
  const inputs = { service: "shop", alert: "Error rate above 5 %" };

  test("looks from two sides, asks, and prepares what somebody chose", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(INCIDENT_TRIAGE, { inputs });
    await stage.endAgent({ output: { cause: "A missing index", confidence: 70 } });
    expect(await titleOf(stage, run.id)).toBe("Alert of shop: what should happen?");
    const { lastQuestionId } = await stage.run(run.id);
    const { content } = await stage.engine.read(lastQuestionId ?? never());
    expect(content.context).toContain("Possible cause (70 %): A missing index");
    expect(content.context).toContain("1a2b3c Fix the cart");
    await stage.answer(run, "revert");
    expect(stage.agents[1]?.prompt).toContain("Prepare this: revert");
    await stage.endAgent({ summary: "Reverted" });
    expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
    expect(pulls).toMatchObject([{ title: "shop: revert after an alert" }]);
    expect((await stage.engine.verify()).problems).toEqual([]);
  });

  test("does nothing if somebody says so", async () => {
    const { stage, pulls } = aStage();
    const run = await stage.start(INCIDENT_TRIAGE, { inputs });
    await stage.endAgent({ output: { cause: "A deployment", confidence: 20 } });
    expect(await stage.answer(run, "ignore")).toMatchObject({ status: "completed" });
    expect([stage.agents.length, pulls]).toEqual([1, []]);
  });
});

function never(): never {
  throw new Error("it asked nothing");
}
