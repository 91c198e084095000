import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import { MCP, Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { approvalAsk } from "../../../core/question/approval.ts";

/** Types `askd next` for a screen reader, and these lines; undefined is Ctrl-C. */
async function next(scene: Scene, lines: ReadonlyArray<string | undefined>, ...argv: string[]) {
  const left = [...lines];
  let shown = "";
  const write = (text: string) => void (shown += text);
  const tty = { write, isTty: true, columns: 80, rows: 24 };
  const typed = await type(scene, ["next", "--undo-window", "0s", ...argv], {
    env: { ASKD_ACCESSIBLE: "1" },
    stdin: { isTty: true, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(left.shift()) },
    stdout: tty,
    stderr: tty,
  });
  return { exit: typed.exit, shown, unread: left.length };
}

async function askThrice(scene: Scene) {
  for (let index = 0; index < 3; index += 1) await scene.ask({ key: `k${index}` }, MCP);
}

const statuses = async (scene: Scene) =>
  (await scene.engine.listQuestions({ order: "oldest", limit: 10 })).map(({ status }) => status);

describe("askd next by prompts", () => {
  test("answers only the question that is shown, unless the person says that all are meant", async () => {
    const scene = new Scene();
    await askThrice(scene);
    const one = await next(scene, ["1", "", ":q"]);
    expect(one.shown).toContain("3 runs ask this. Answer all of them? [y/N]");
    expect((await statuses(scene)).filter((status) => status === "answered")).toHaveLength(1);
    expect(one.shown).toMatch(/2 questions are waiting for you\. Continue with: askd next\n$/);
    const all = await next(scene, ["1", "y"]);
    expect(await statuses(scene)).toEqual(["answered", "answered", "answered"]);
    expect(all.shown).toMatch(/Nothing is waiting for you\.\n$/);
  });

  test("shows the whole command that an approval allows before it takes an answer", async () => {
    const scene = new Scene();
    const line = "rm -rf build && npm test";
    const run = await scene.startedRun();
    const input = scene.input(approvalAsk({ tool: "Bash", input: { command: line } }));
    await scene.engine.ask(input, AGENT, { runId: run.id });
    const { shown } = await next(scene, [":q"]);
    expect(shown).toContain(`${line}\n`);
    expect(await statuses(scene)).toEqual(["pending"]);
  });

  test("refuses a number that is no option, and asks again", async () => {
    const scene = new Scene();
    await scene.ask({}, MCP);
    const { shown } = await next(scene, ["99", "2"]);
    expect(shown).toContain("There is no option 99; choose 1 Redis, 2 Memcached");
    expect(shown).toContain("Answered: Memcached.");
  });

  test("sends nothing when it is interrupted at its last question, and exits with 130", async () => {
    const scene = new Scene();
    await askThrice(scene);
    expect((await next(scene, ["1", undefined])).exit).toBe(130);
    expect(await statuses(scene)).toEqual(["pending", "pending", "pending"]);
    const risky = new Scene();
    await risky.ask({ risk: "high" }, MCP);
    const ended = await next(risky, ["1", undefined, "2"]);
    expect(ended).toMatchObject({ exit: 130, unread: 1 });
    expect(await statuses(risky)).toEqual(["pending"]);
  });

  test("counts at its end what waits then, not what was offered", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ key: "a", question: "First?" }, MCP);
    await scene.ask({ key: "b", question: "Second?" }, MCP);
    await scene.engine.claim(question.id, ADA);
    const snoozed = await next(scene, [":h 1h", ":s"]);
    expect(snoozed.shown).toMatch(/1 question is waiting for you\. Continue with: askd next\n$/);
    await scene.engine.snooze(
      (await scene.engine.listQuestions({ order: "newest", limit: 1 }))[0]!.id,
      laterToday(scene),
      ADA,
    );
    const none = await next(scene, []);
    expect(none.shown).toMatch(
      /Nothing is waiting for you now; 2 questions are snoozed or not for you\. See: askd list --awaiting\n$/,
    );
    await scene.engine.answer(question.id, said("Redis"), ADA);
  });
});

function laterToday(scene: Scene) {
  return scene.now.replace(/T\d\d/, "T23") as typeof scene.now;
}
