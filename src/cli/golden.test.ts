import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { Everyday, LENA, fixedScene, taskScene } from "../../test/everyday.ts";
import { Transcript } from "../../test/golden.ts";
import { said } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import { renderTemplate } from "./commands/answer/answer-edit.ts";

/** The question that #42 waits for. */
async function pendingOf(day: Everyday) {
  const { pendingId } = await day.run(42);
  return pendingId!;
}

describe("what commands print is as it was agreed", () => {
  test("status", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await seen.type("status");
    await seen.type("status", "--short");
    await seen.type("status", "--exit-code", "--short");
    await day.scene.engine.answer(await pendingOf(day), said("Redis"), LENA);
    await day.scene.engine.cancelRun((await day.run(42)).id, LENA);
    await day.scene.pass(16 * HOUR_MS);
    await seen.type("status");
    await seen.type("status", "--exit-code", "--short");
    const first = fixedScene();
    seen.add(["status"], await type(first, ["status"]));
    expect(seen.text).toBe(seen.golden("status"));
  });

  test("show", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await seen.type("show", "42");
    await seen.type("comment", "42", "Lena knows the load we expect");
    await seen.type("assign", "42", "lena");
    await seen.type("show", "42", "--agent-view");
    await day.print(42, 1, { type: "assistant", message: { role: "assistant", content: [text("I look first.")] } });
    await day.scene.engine.answer(await pendingOf(day), said("2", { note: "keep it small" }), LENA);
    await day.scene.pass(4 * MINUTE_MS);
    await seen.type("show", "q-7k3f", "--log");
    expect(seen.text).toBe(seen.golden("show"));
  });

  test("show of a question that people answered before", async () => {
    const scene = fixedScene();
    const queue = { question: "Redis or Memcached for the caching layer of jobs?", options: ["Redis", "Memcached"] };
    const cache = { question: "Redis or Memcached for the caching layer?", options: ["Redis", "Memcached"] };
    const first = await scene.engine.ask(scene.input(queue), AGENT, { run: { repo: "acme/api" } });
    await scene.engine.answer(first.question.id, said("Redis"), { ...LENA, id: "mika" });
    await scene.pass(21 * 24 * HOUR_MS);
    await scene.engine.ask(scene.input(cache), AGENT, { run: { repo: "acme/api" } });
    const seen = new Transcript((argv) => type(scene, argv));
    await seen.type("show", "2");
    expect(seen.text).toBe(seen.golden("show-similar"));
  });

  test("the text that an editor opens with", async () => {
    const scene = await taskScene();
    const { runs } = await scene.store.lookUp({ by: "external", text: "tm-abc" }, 1);
    const read = await scene.engine.read(runs[0]!.pendingId!);
    const seen = new Transcript((argv) => type(scene, argv));
    seen.add(["respond", "tm-abc", "--edit"], { exit: 0, stdout: renderTemplate(read), stderr: "" });
    expect(seen.text).toBe(seen.golden("edit"));
  });

  test("show of the work itself", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await seen.type("diff", "42", "--stat");
    const { stdout } = await day.type(["show", "42", "--diff"]);
    expect(stdout).toContain("\nWORK SO FAR:\ndiff --git a/README.md b/README.md\n");
    expect(JSON.parse((await day.type(["show", "42", "--diff", "--json=new_files,diff"])).stdout)).toMatchObject({
      new_files: [],
      diff: expect.stringContaining("+src/cache/redis_client.py 120"),
    });
    await day.scene.startedRun({ name: "outside", dir: tmpdir() });
    await day.scene.engine.ask(day.scene.input({}), AGENT, { run: { dir: tmpdir(), host: "here" } });
    seen.add(["diff", "44"], await day.type(["diff", "44"]));
    seen.add(["diff", "45"], await day.type(["diff", "45"]));
    expect(seen.text.replaceAll(tmpdir(), "/tmp")).toBe(seen.golden("diff"));
  });

  test("answer", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await seen.type("answer", "42", "");
    await seen.type("answer", "41", "Redis");
    await seen.type("answer", "42", "Use Redis, we'll need pub/sub later");
    await day.scene.pass(4 * MINUTE_MS);
    await seen.type("answer", "42", "Redis");
    expect(seen.text).toBe(seen.golden("answer"));
  });

  test("answer that comes second or late", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await day.scene.engine.answer(await pendingOf(day), said("Memcached"), LENA);
    await day.scene.pass(4 * MINUTE_MS);
    await seen.type("answer", "42", "Redis");
    const late = fixedScene();
    const run = await late.startedRun();
    await late.engine.ask(late.input({ timeout: "1h" }), AGENT, { runId: run.id });
    await late.engine.endRun(run.id, { status: "completed" }, AGENT);
    await late.pass(HOUR_MS);
    await late.pass(2 * HOUR_MS);
    for (const argv of [
      ["answer", "1", "Redis"],
      ["answer", "--force", "1", "Redis"],
    ]) {
      seen.add(argv, await type(late, argv));
    }
    expect(seen.text).toBe(seen.golden("answer-late"));
  });

  test("answer that is followed", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript((argv) => day.type(argv, { pause: () => go() }));
    const { id } = await day.run(42);
    const call = { type: "tool_use", id: "t1", name: "Edit", input: { file_path: "src/cache/redis_client.py" } };
    const steps = [
      () => day.scene.engine.startRun(id, AGENT),
      () => day.print(42, 2, { type: "assistant", message: { role: "assistant", content: [call] } }),
      async () => {
        await day.scene.engine.given((await day.run(42)).lastQuestionId!, "transcript");
        await day.use(id, { turns: 19, costUsd: 0.71, inputTokens: 240_000, outputTokens: 9_000 });
        await day.scene.engine.endRun(id, { status: "completed" }, AGENT);
      },
    ];
    const go = async (): Promise<void> => void (await steps.shift()?.());
    await seen.type("answer", "42", "1", "--wait");
    expect(steps).toEqual([]);
    expect(seen.text).toBe(seen.golden("answer-wait"));
  });

  test("list", async () => {
    const scene = await taskScene();
    const seen = new Transcript((argv) => type(scene, argv));
    await seen.type("list", "--awaiting");
    await seen.type("list", "--awaiting", "--mine");
    await seen.type("list");
    await seen.type("list", "--limit", "1");
    await seen.type("list", "--after", "q-9m2x");
    await seen.type("list", "--sort", "priority", "--json=short_id,run_name");
    await seen.type("list", "--state", "answered");
    expect(seen.text).toBe(seen.golden("list"));
  });

  test("tree and the words for tasks of another system", async () => {
    const scene = await taskScene();
    const seen = new Transcript((argv) => type(scene, argv));
    await seen.type("tree", "tm-pay");
    await seen.type("respond", "tm-abc", "Use JWT tokens. We're building a mobile-first API.");
    await seen.type("tree");
    expect(seen.text).toBe(seen.golden("tree"));
  });

  test("ask and check", async () => {
    const scene = fixedScene();
    const server = { findServer: () => Promise.resolve("http://127.0.0.1:4319") };
    const seen = new Transcript((argv) => type(scene, argv, server));
    await seen.type("ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached");
    await seen.type("check", "q-7k3f", "--json");
    await seen.type("check", "q-7k3f");
    await scene.pass(2 * MINUTE_MS);
    await seen.type("answer", "q-7k3f", "Redis");
    await seen.type("check", "q-7k3f", "--json");
    await seen.type("check", "q-7k3f");
    await seen.type("ask", "And then?", "--timeout", "2s");
    await scene.pass(3 * SECOND_MS);
    await seen.type("check", "q-9m2x");
    await seen.type("ask", "Really?");
    await seen.type("cancel", "q-5c1a", "-m", "not needed");
    await seen.type("check", "q-5c1a");
    expect(seen.text).toBe(seen.golden("ask"));
  });

  test("ask that waits on a terminal", async () => {
    const scene = fixedScene();
    let seconds = 0;
    const pause = async (): Promise<void> => {
      seconds += 1;
      await scene.pass(SECOND_MS);
      if (seconds === 41) await type(scene, ["answer", "-", "redis"]);
    };
    let stderr = "";
    const screen = { isTty: true, columns: 80, write: (words: string) => void (stderr += words) };
    const findServer = () => Promise.resolve("http://127.0.0.1:4319");
    const options = ["-o", "redis:Redis", "-o", "memcached:Memcached", "--recommend", "redis"];
    const policy = ["--timeout", "24h", "--on-timeout", "default", "--default", "redis", "--wait", "10m"];
    const typed = await type(scene, ["ask", "Redis or Memcached?", ...options, ...policy], {
      stderr: screen,
      findServer,
      pause,
    });
    expect(typed).toMatchObject({ exit: 0, stdout: "redis\n" });
    expect(stderr.startsWith("asked q-7k3f  http://127.0.0.1:4319/q/7k3f\n\x07")).toBe(true);
    expect(lastFrame(stderr)).toBe("waiting for a person, 40s");
  });

  test("runs list, audit and the verbs on a question", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript(day.type, day.root);
    await seen.type("runs", "list", "--limit", "3");
    await seen.type("claim", "42");
    await seen.type("release", "42");
    await seen.type("assign", "42", "lena", "ops");
    await seen.type("snooze", "42", "2h");
    await seen.type("snooze", "42", "14:30");
    await seen.type("extend", "42", "+4h");
    await seen.type("comment", "42", "Lena knows the load we expect");
    await seen.type("status");
    await seen.type("answer", "42", "2", "--undo-window", "1m");
    await seen.type("undo", "42");
    await seen.type("answer", "42", "2");
    await seen.type("amend", "42", "Memcached, but keep the client behind an interface");
    await seen.type("check", "42");
    await seen.type("check", "42", "--json");
    await seen.type("audit", "42");
    await seen.type("audit", "42", "--limit", "2");
    await seen.type("audit", "--verify");
    expect(seen.text).toBe(seen.golden("verbs"));
  });

  test("amend and escalate", async () => {
    const scene = fixedScene();
    const seen = new Transcript((argv) => type(scene, argv));
    await scene.ask();
    await type(scene, ["answer", "1", "1"]);
    await scene.pass(HOUR_MS);
    await seen.type("amend", "1", "Not on port 6379");
    const run = await scene.startedRun();
    const steps = [
      { after: "1h", to: ["lena"], channels: [] },
      { after: "2h", to: ["ops"], channels: [] },
    ];
    const chain = { on_timeout: "escalate", timeout_params: { steps, then: "fail" } };
    await scene.engine.ask(scene.input(chain), AGENT, { runId: run.id });
    await seen.type("escalate", "2");
    await seen.type("escalate", "2");
    await seen.type("escalate", "2");
    expect(seen.text).toBe(seen.golden("escalate"));
  });

  test("people", async () => {
    const scene = fixedScene();
    const seen = new Transcript((argv) => type(scene, argv));
    await seen.type("user", "list");
    await seen.type("user", "add", "lena", "--name", "Lena", "--email", "lena@example.com", "--group", "ops");
    await seen.type("user", "add", "mika", "--slack", "U024BE7LH", "--github", "mika");
    await seen.type("user", "list");
    await seen.type("user", "set", "lena", "--name", "", "--group", "ops,oncall");
    await seen.type("user", "set", "lena", "--quiet-hours", "22:00-07:00 Europe/Berlin");
    await seen.type("user", "show", "lena", "--json");
    await seen.type("user", "add", "lena");
    await seen.type("user", "show", "lene");
    await seen.type("user", "add", "no spaces");
    await seen.type("ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached");
    await seen.type("assign", "1", "lana");
    await seen.type("assign", "1", "everyone");
    await seen.type("assign", "1", "@lena", "oncall");
    await seen.type("ask", "And the port?", "--to", "mikka");
    await type(scene, ["token", "create", "--scope", "human", "--subject", "mika"]);
    await seen.type("user", "remove", "mika");
    await seen.type("user", "remove", "mika", "--yes");
    await seen.type("user", "remove", "mika");
    await seen.type("user", "list");
    await seen.type("auth");
    await seen.type("auth", "--json");
    expect(seen.text).toBe(seen.golden("people"));
  });
});

function text(words: string): object {
  return { type: "text", text: words };
}

/** The last line on a terminal that was written over. */
function lastFrame(written: string): string {
  return written.trimEnd().split("\r\x1b[K").at(-1) ?? "";
}
