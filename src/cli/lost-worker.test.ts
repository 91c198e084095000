import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";

const home = mkdtempSync(join(tmpdir(), "askd-unheard-"));
mkdirSync(join(home, "config"));
const NTFY = '[channels.ntfy]\nurl = "https://ntfy.example.com"\ntopic = "askd-q"\nreply_topic = "askd-a"\n';
writeFileSync(join(home, "config", "config.toml"), NTFY);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A question that people were told of in a channel, some time ago. */
async function told(): Promise<Scene> {
  const scene = new Scene({ rules: { reach: [{ name: "ntfy", person: undefined, isPersonal: false }] } });
  await scene.ask();
  await scene.pass(60_000);
  return scene;
}

describe("a question that people were told of, without anybody who reads their replies", () => {
  test.each([[["status"]], [["show", "1"]], [["list"]], [["channels"]]])("is noticed by %j", async (argv) => {
    const started: unknown[] = [];
    const over = {
      env: { ASKD_HOME: home },
      isLocked: () => Promise.resolve(false),
      detach: async (child: object) => void started.push(child),
    };
    const { exit, stderr } = await type(await told(), argv, over);
    expect({ exit, stderr, started: started.length }).toEqual({
      exit: 0,
      stderr: "The worker that reads replies was gone; started a new one.\n",
      started: 1,
    });
  });

  test("is said to be one where nothing may run in the background", async () => {
    const over = { env: { ASKD_HOME: home, ASKD_NO_SERVICE: "1" }, isLocked: () => Promise.resolve(false) };
    expect((await type(await told(), ["status"], over)).stderr).toBe(
      "No worker runs on this machine, and nobody sends messages or reads replies. Start it with: askd worker\n",
    );
  });

  test("is left alone while a worker runs, and without a channel", async () => {
    const running = { env: { ASKD_HOME: home }, isLocked: () => Promise.resolve(true) };
    expect((await type(await told(), ["status"], running)).stderr).toBe("");
    expect((await type(await told(), ["status"], { isLocked: () => Promise.resolve(false) })).stderr).toBe("");
  });
});

describe("a run that something happened to a moment ago", () => {
  const started: unknown[] = [];
  const over = {
    isLocked: () => Promise.resolve(false),
    detach: async (child: object) => void started.push(child),
  };
  async function queued() {
    const scene = new Scene();
    await scene.engine.createRun({ agent: "claude", host: "here", giveBack: "worker" }, AGENT);
    return scene;
  }

  test("is left to the worker that may have been started for it", async () => {
    expect((await type(await queued(), ["status"], over)).stderr).toBe("");
  });

  test("gets another worker at once if the last one was killed", async () => {
    const isPid = (file: string) => file.endsWith(".lock.pid");
    const readFile = (file: string) =>
      isPid(file) ? Promise.resolve("4194305 long ago\n") : Promise.reject(new Error("no such file"));
    const { stderr } = await type(await queued(), ["status"], { ...over, readFile });
    expect({ stderr, started: started.length }).toEqual({
      stderr: "The worker of #1 was gone; started a new one.\n",
      started: 1,
    });
  });
});

test("a channel for a question that is asked is not quietly ignored", async () => {
  const scene = new Scene();
  const { exit, stderr } = await type(scene, ["ask", "Deploy?", "--via", "slack"]);
  expect(exit).toBe(2);
  expect(stderr).toContain("--via goes with --dry-run");
  expect(await scene.engine.countQuestions("pending")).toBe(0);
});
