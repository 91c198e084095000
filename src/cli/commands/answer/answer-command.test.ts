import { beforeEach, describe, expect, test } from "vitest";
import { AGENT } from "../../../../test/builders.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { approvalAsk } from "../../../core/question/approval.ts";
import { shortId } from "../../../core/id.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

async function asked(takesChange: boolean) {
  const run = await scene.startedRun();
  const input = scene.input(approvalAsk({ tool: "Bash", input: { command: "npm test" }, takesChange }));
  return (await scene.engine.ask(input, AGENT, { runId: run.id })).question;
}

describe("askd answer", () => {
  test("allows an approval with the command of --command", async () => {
    const { id } = await asked(true);
    const { exit, stdout } = await type(scene, ["answer", shortId(id), "--command", "npm test -- --run", "--json"]);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      answers: { 1: { values: ["allow-changed"], text: "npm test -- --run" } },
      items: [{ change: "npm test" }],
    });
  });

  test("refuses --command with the reason where the agent cannot take it, and where nothing is to run", async () => {
    const { id } = await asked(false);
    const refused = await type(scene, ["answer", shortId(id), "--command", "npm run lint"]);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("cannot take a changed command")]);
    const plain = await scene.ask();
    const other = await type(scene, ["answer", shortId(plain.question.id), "--command", "ls"]);
    expect([other.exit, other.stderr]).toEqual([2, expect.stringContaining("does not ask to run a command")]);
  });

  test("shows with --dry-run the command that would be allowed, and changes nothing", async () => {
    const { id } = await asked(false);
    const { exit, stdout } = await type(scene, ["answer", shortId(id), "allow", "--dry-run"]);
    expect([exit, stdout]).toEqual([0, expect.stringContaining("npm test")]);
    expect(await scene.engine.countQuestions("pending")).toBe(1);
  });

  test("allows exactly this, or the shown prefix, for the rest of the run", async () => {
    const { id } = await asked(false);
    const { exit, stdout } = await type(scene, ["answer", shortId(id), "allow-prefix", "--json"]);
    expect([exit, JSON.parse(stdout)]).toMatchObject([0, { answer: "allow-prefix" }]);
    const [run] = await scene.engine.listRuns({ order: "newest", limit: 1 });
    expect(run?.permissions).toMatchObject([{ questionId: id, scope: { prefix: "npm test" } }]);
  });
});
