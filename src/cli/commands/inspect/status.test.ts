import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import { MCP, Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

const terminal = (rows: number, heard: { text: string }) => ({
  stdout: { write: (text: string) => void (heard.text += text), isTty: true, columns: 80, rows },
});

async function askIn(scene: Scene, name: string, raw: Record<string, unknown> = {}) {
  const run = await scene.startedRun({ name });
  return scene.engine.ask(scene.input(raw), AGENT, { runId: run.id });
}

describe("askd status", () => {
  test("marks a question of high risk", async () => {
    const scene = new Scene();
    await askIn(scene, "drop", { question: "Drop the table?", risk: "high" });
    await askIn(scene, "cache");
    const { stdout } = await type(scene, ["status"]);
    expect(stdout).toContain("#1 drop (⚠ high risk, waiting ");
    expect(stdout).toContain("#2 cache (waiting ");
  });

  test("lists answers that were stored without resuming their run, with the command that resumes it", async () => {
    const scene = new Scene();
    const { run } = await askIn(scene, "cache");
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
    await type(scene, ["answer", "1", "Redis", "--no-resume"]);
    const { stdout } = await type(scene, ["status"]);
    expect(stdout).toMatch(
      /^ANSWERED, NOT RESUMED:\n {2}#1 cache \(Claude Code\)\n {6}Resume it: askd runs resume 1$/m,
    );
    expect(stdout).not.toContain("Nothing is waiting for you");
    const { answered } = JSON.parse((await type(scene, ["status", "--json"])).stdout) as { answered: unknown };
    expect(answered).toMatchObject([{ number: 1, resume_command: "askd runs resume 1" }]);
    await type(scene, ["runs", "resume", "1"]);
    expect((await type(scene, ["status"])).stdout).not.toContain("NOT RESUMED");
  });

  test("counts every run and question in its short form, beyond a page of them", async () => {
    const scene = new Scene();
    for (let count = 0; count < 130; count += 1) await scene.startedRun({ name: `run-${count}` });
    for (let count = 0; count < 105; count += 1) await scene.ask({ question: `Which one, ${count}?` });
    expect((await type(scene, ["status", "--short"])).stdout).toBe("?105 ▶130\n");
  });

  test("lists the runs that were cancelled today", async () => {
    const scene = new Scene();
    const { run } = await askIn(scene, "cache");
    await scene.engine.cancelRun(run.id, ADA, "not needed");
    const { stdout } = await type(scene, ["status"]);
    expect(stdout).toMatch(/^CANCELLED TODAY:\n {2}#1 cache just now$/m);
    expect(JSON.parse((await type(scene, ["status", "--json=cancelled"])).stdout)).toMatchObject({
      cancelled: [{ number: 1, status: "cancelled" }],
    });
  });

  test("says when an agent that is held goes on by itself, on every page that shows a deadline", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const door = { ...MCP, hold: { windowMs: 180_000, after: "proceed" as const } };
    await scene.engine.ask(scene.input({ hold: "3m", after_hold: "proceed" }, door), AGENT, { runId: run.id });
    const expected = "ue in 3m, then goes on by its own judgment";
    expect((await type(scene, ["status"])).stdout).toContain(`D${expected}`);
    expect((await type(scene, ["list", "--awaiting"])).stdout).toContain(`d${expected}`);
    expect((await type(scene, ["tree"])).stdout).toContain("due in 3m");
    expect((await type(scene, ["show", "1"])).stdout).toMatch(/Due .* \(in 3m\), then goes on by its own judgment\./);
  });

  test("fits on the screen, and counts what it leaves out", async () => {
    const scene = new Scene();
    for (let index = 0; index < 60; index += 1) await askIn(scene, `run-${index}`);
    for (let index = 0; index < 5; index += 1) await scene.startedRun({ name: `busy-${index}` });
    const heard = { text: "" };
    await type(scene, ["status"], { ...terminal(30, heard), env: { NO_COLOR: "1" } });
    const lines = heard.text.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(29);
    const shown = lines.filter((line) => /^ {2}#\d+ run-/.test(line)).length;
    expect(shown).toBeGreaterThan(1);
    expect(heard.text).toContain(`  +${60 - shown} more: askd list --awaiting\n`);
    const busy = lines.filter((line) => /^ {2}#\d+ busy-/.test(line)).length;
    expect(busy).toBeGreaterThan(0);
    expect(heard.text.includes("more: askd runs list")).toBe(busy < 5);
    expect(heard.text).toContain("60 waiting, 5 running.");
    expect(JSON.parse((await type(scene, ["status", "--json=waiting"])).stdout).waiting).toHaveLength(60);
  });

  test("shows votes, and so does show", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena");
    const { question } = await askIn(scene, "drop", { question: "Drop it?", approvals: { need: 2 } });
    expect((await type(scene, ["show", "1"])).stdout).toContain("2 people have to agree; nobody has voted yet.");
    await scene.engine.answer(question.id, said("Redis"), ADA);
    expect((await type(scene, ["status"])).stdout).toContain('1 of 2 chose "Redis", by ada');
    expect((await type(scene, ["show", "1"])).stdout).toContain('1 of 2 chose "Redis", by ada.');
    const approval = await scene.startedRun({ name: "deploy" });
    const asked = { kind: "approval", question: "Deploy?", options: undefined, approvals: { need: 2 } };
    const { question: deploy } = await scene.engine.ask(scene.input(asked), AGENT, { runId: approval.id });
    await scene.engine.answer(deploy.id, said("yes"), ADA);
    expect((await type(scene, ["status"])).stdout).toContain("1 of 2 approved, by ada");
    expect((await type(scene, ["show", "2"])).stdout).toContain("1 of 2 approved, by ada.");
  });

  test("says that an agent tried to answer its own question, and so does show", async () => {
    const scene = new Scene();
    const { run } = await askIn(scene, "cache");
    for (let tries = 0; tries < 3; tries += 1) {
      expect((await type(scene, ["answer", "1", "Redis"], { env: { ASKD_RUN: run.id } })).exit).toBe(7);
    }
    const tried = "An agent tried to answer this itself, 3 times; it was refused. See: askd audit 1";
    expect((await type(scene, ["status"])).stdout).toContain(`      ${tried}\n`);
    expect((await type(scene, ["show", "1"])).stdout).toContain(`  ${tried}\n`);
    await scene.engine.answer(run.pendingId!, said("Redis"), ADA);
    expect((await type(scene, ["show", "1"])).stdout).toContain(tried);
  });

  test("takes ASKD_ACCESSIBLE=0 for off", async () => {
    const scene = new Scene();
    await askIn(scene, "cache");
    const drawn = { text: "" };
    const watched = ["status", "--watch", "--exit-code"];
    await type(scene, watched, { ...terminal(30, drawn), env: { ASKD_ACCESSIBLE: "0", NO_COLOR: "1" } });
    expect(drawn.text).toContain("\x1b[H\x1b[2J");
    const plain = { text: "" };
    await type(scene, watched, { ...terminal(30, plain), env: { ASKD_ACCESSIBLE: "1" } });
    expect(plain.text).not.toContain("\x1b[");
  });
});
