import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";

const FACTS = { agent: "claude", repo: "acme/api", labels: ["urgent"] };

describe("what only the asker says", () => {
  test("is marked by show, line by line", async () => {
    const scene = new Scene();
    await scene.engine.ask(scene.input({ risk: "low" }), AGENT, { run: FACTS });
    const { stdout } = await type(scene, ["show", "1"]);
    expect(stdout).toContain("Repository: acme/api (unverified)\nLabels: urgent (unverified)\n");
    expect(stdout).toContain("Agent: Claude Code (unverified)\n");
    expect(stdout).toContain("Low risk (unverified).");
  });

  test("is marked by stats, with how many questions", async () => {
    const scene = new Scene();
    const { id: runId } = await scene.engine.createRun(FACTS, ADA);
    await scene.engine.ask(scene.input(), AGENT, { runId });
    await scene.engine.ask(scene.input(), AGENT, { run: FACTS });
    await scene.engine.ask(scene.input(), AGENT, { run: { repo: "acme/web" } });
    await scene.pass(1);
    const { stdout } = await type(scene, ["stats", "--by", "repo"]);
    expect(stdout).toMatch(/^acme\/api \(1 unverified\) +2 /m);
    expect(stdout).toMatch(/^acme\/web \(unverified\) +1 /m);
  });
});

test("what a person says is not marked", async () => {
  const scene = new Scene();
  await scene.engine.ask(scene.input({ risk: "low" }), ADA, { run: FACTS });
  const { stdout } = await type(scene, ["show", "1"]);
  expect(stdout).toContain("Repository: acme/api\n");
  expect(stdout).toContain("Low risk.");
  expect(stdout).not.toContain("unverified");
});
