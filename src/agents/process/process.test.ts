import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundle, start, type Child } from "../../../test/child.ts";
import { aRunScene, until, type RunScene } from "../../../test/run-dir.ts";
import { waitForProcessEnd, blockEpochs, findAgentProcess, startProcess, type StartResult } from "./process.ts";
import { startDirOf } from "../runner/run-files.ts";
import { isProcessAlive } from "./process-identity.ts";
import { listRunProcesses } from "./process-list.ts";

const RACERS = 50;
const WAIT = "echo began; while :; do sleep 0.05; done";

let program = "";

beforeAll(async () => {
  program = await bundle("src/agents/process/process.child.ts");
});

async function aStarter(): Promise<Child> {
  const child = start(program, []);
  onTestFinished(() => void child.process.kill("SIGKILL"));
  expect(await child.line()).toBe("ready");
  return child;
}

/** Waits until the agent says that it runs, and gives its own number, which is not its wrapper's. */
async function agentOf(scene: RunScene): Promise<number> {
  await until("the agent began", () => scene.read("1.out").includes("began"));
  const wrapper = Number(scene.read("1.pid").split("\n")[1]!.split(" ")[0]);
  const all = await listRunProcesses(scene.runId);
  return all.find(({ parent }) => parent === wrapper)!.pid;
}

describe("a start", () => {
  test("gives the agent its arguments, directory, environment, input and logs", async () => {
    const scene = await aRunScene();
    const text = `printf '%s|' "$@" "$PWD" "$ASKD_RUN" "$ASKD_EPOCH" "$OWN" "$MORE" "\${ASKD_TOKEN-none}"; cat; echo no >&2`;
    const env = { PATH: "/usr/bin:/bin", OWN: "caller's", MORE: "caller's", ASKD_TOKEN: "secret", ASKD_RUN: "r_other" };
    const input = scene.script(text, { env, stdin: "what to do\n", args: ["a b", "$(echo c)", "'", ""] });
    const started = await startProcess({ ...input, start: { ...input.start, env: { MORE: "agent's" } } });
    expect(started).toMatchObject({ won: true });
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 0 });
    const parts = ["a b", "$(echo c)", "'", "", scene.dir, scene.runId, "1", "caller's", "agent's", "none"];
    expect(scene.read("1.out")).toBe(`${parts.join("|")}|what to do\n`);
    expect(scene.read("1.err")).toBe("no\n");
  });

  test("leaves files that only this user may read, and the agent its own rights for new files", async () => {
    const scene = await aRunScene();
    const input = scene.script("touch made; cat <&0", { umask: 0o002, stdin: "x" });
    const files = [{ name: "settings.json", text: "{}" }];
    await startProcess({ ...input, start: { ...input.start, files } });
    await waitForProcessEnd(scene.runDir, 1);
    const modeOf = (file: string): number => statSync(file).mode & 0o777;
    const names = ["1.pid", "1.exit", "1.out", "1.err", join("1.start", "settings.json")];
    expect(names.map((name) => modeOf(join(scene.runDir, name)))).toEqual(names.map(() => 0o600));
    expect(modeOf(scene.runDir)).toBe(0o700);
    expect(modeOf(join(scene.dir, "made"))).toBe(0o664);
  });

  test("leaves none of its own descriptors to the agent", async () => {
    const scene = await aRunScene();
    await scene.start("for each in 2 3 4; do [ -e /proc/$$/fd/$each ] && printf '%s ' $each; done");
    await waitForProcessEnd(scene.runDir, 1);
    expect(scene.read("1.out")).toBe("2 ");
  });

  test("of a program that is not there ends as a shell says so", async () => {
    const scene = await aRunScene();
    const input = scene.script("");
    const started = await startProcess({ ...input, start: { ...input.start, argv: ["/no/such/program"] } });
    expect(started.won).toBe(true);
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 127 });
    expect(scene.read("1.err")).toContain("/no/such/program");
  });

  test("that cannot happen says why and leaves the epoch free", async () => {
    const scene = await aRunScene();
    await expect(scene.start("true", { dir: "/no/such/directory" })).rejects.toThrow(/was not started/);
    const relative = { ...scene.script("").start, argv: ["sh"] };
    await expect(startProcess(scene.script("", { start: relative }))).rejects.toThrow(/absolute/);
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "none" });
    expect(await scene.start("true")).toMatchObject({ won: true });
  });

  test(`of ${RACERS} at once for one epoch starts one agent`, async () => {
    const scene = await aRunScene();
    const input = scene.script("echo started >>started");
    const starters = await Promise.all(Array.from({ length: 5 }, aStarter));
    const lines: Array<Promise<string>> = [];
    for (let racer = 0; racer < RACERS - starters.length; racer += starters.length) {
      for (const starter of starters) starter.say(JSON.stringify(input));
    }
    const own = Promise.all(Array.from({ length: starters.length }, () => startProcess(input)));
    for (const starter of starters) {
      for (let racer = 0; racer < RACERS / starters.length - 1; racer += 1) lines.push(starter.line());
    }
    const all: StartResult[] = [...(await own), ...JSON.parse(`[${(await Promise.all(lines)).join(",")}]`)];
    expect(all).toHaveLength(RACERS);
    expect(all.filter(({ won }) => won)).toHaveLength(1);
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 0 });
    expect(readFileSync(join(scene.dir, "started"), "utf8")).toBe("started\n");
  });
});

describe("the exit code is kept", () => {
  test.each([
    ["a normal end", "exit 3", 3],
    ["success", "true", 0],
    ["a signal of its own", "kill -KILL $$", 137],
  ])("after %s", async (_name, text, exitCode) => {
    const scene = await aRunScene();
    await scene.start(text);
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode });
    expect(scene.read("1.err")).toBe("");
  });

  test.each([
    ["SIGTERM to its group", "SIGTERM", 143],
    ["SIGINT to its group", "SIGINT", 130],
    ["SIGHUP to its group", "SIGHUP", 129],
  ] as const)("after %s, which reaches the agent", async (_name, signal, exitCode) => {
    const scene = await aRunScene();
    // A shell in the background of a script ignores SIGINT, so the agent is a program that does not.
    const input = scene.script("");
    const argv = [process.execPath, "-e", "console.log('began'); setInterval(() => {}, 1000)"];
    const started = await startProcess({ ...input, start: { ...input.start, argv } });
    if (!started.won) throw new Error("nobody else is here");
    await until("the agent began", () => scene.read("1.out").includes("began"));
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "alive", identity: started.identity });
    process.kill(-started.identity.pid, signal);
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode });
  });

  test("after SIGKILL to the agent alone", async () => {
    const scene = await aRunScene();
    await scene.start(WAIT);
    process.kill(await agentOf(scene), "SIGKILL");
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 137 });
  });

  test("and is unknown when the wrapper was killed too", async () => {
    const scene = await aRunScene();
    const started = await scene.start(WAIT);
    if (!started.won) throw new Error("nobody else is here");
    process.kill(-started.identity.pid, "SIGKILL");
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: undefined });
    expect(await isProcessAlive(started.identity)).toBe(false);
  });
});

describe("an agent", () => {
  test("goes on when its starter is killed, and is found by another process with its output and exit code", async () => {
    const scene = await aRunScene();
    const starter = await aStarter();
    starter.say(JSON.stringify(scene.script("echo began; until [ -e go ]; do sleep 0.02; done; echo done; exit 7")));
    const started = JSON.parse(await starter.line());
    starter.process.kill("SIGKILL");
    await starter.exited;
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "alive", identity: started.identity });
    writeFileSync(join(scene.dir, "go"), "");
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 7 });
    expect(scene.read("1.out")).toBe("began\ndone\n");
  });

  test("is not started a second time when its starter is killed at any moment of the start", async () => {
    for (let delayMs = 0; delayMs < 10; delayMs += 1) {
      const scene = await aRunScene();
      const starter = await aStarter();
      starter.say(JSON.stringify(scene.script("echo started >>started")));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      starter.process.kill("SIGKILL");
      await starter.exited;
      await blockEpochs(scene.runDir, 1);
      const ended = await waitForProcessEnd(scene.runDir, 1);
      const isStarted = existsSync(join(scene.dir, "started"));
      expect(ended).toEqual(isStarted ? { state: "dead", exitCode: 0 } : { state: "void" });
      await scene.start("echo started >>started", { epoch: 2 });
      expect(await waitForProcessEnd(scene.runDir, 2)).toEqual({ state: "dead", exitCode: 0 });
      const lines = readFileSync(join(scene.dir, "started"), "utf8").split("\n").length - 1;
      expect(lines).toBe(isStarted ? 2 : 1);
    }
  });

  test("whose number was given to another process is not taken for alive", async () => {
    const scene = await aRunScene();
    const started = await scene.start("true");
    if (!started.won) throw new Error("nobody else is here");
    await waitForProcessEnd(scene.runDir, 1);
    const other = { ...started.identity, pid: process.pid };
    expect(await isProcessAlive(other)).toBe(false);
    expect(await isProcessAlive({ ...started.identity, boot: "another" })).toBe(false);
  });
});

describe("an epoch that was made void", () => {
  test("starts nothing, not even by a starter that was stopped in between", async () => {
    const scene = await aRunScene();
    const starter = await aStarter();
    starter.process.kill("SIGSTOP");
    starter.say(JSON.stringify(scene.script("echo old >>started")));
    await blockEpochs(scene.runDir, 1);
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "void" });
    expect(await scene.start("echo new >>started", { epoch: 2 })).toMatchObject({ won: true });
    starter.process.kill("SIGCONT");
    expect(JSON.parse(await starter.line())).toEqual({ won: false });
    await waitForProcessEnd(scene.runDir, 2);
    expect(readFileSync(join(scene.dir, "started"), "utf8")).toBe("new\n");
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "void" });
  });

  test("leaves the files of the next start alone, also when its starter was stopped just before it wrote them", async () => {
    const scene = await aRunScene();
    const startWith = (epoch: number, text: string) => {
      const input = scene.script('sleep 0.3; cat "$1"', {
        epoch,
        args: [join(startDirOf(scene.runDir, epoch), "answer")],
      });
      return { ...input, start: { ...input.start, files: [{ name: "answer", text }] } };
    };
    await startProcess(startWith(2, "new"));
    await startProcess(startWith(1, "old"));
    await waitForProcessEnd(scene.runDir, 2);
    expect(scene.read("2.out")).toBe("new");
  });

  test("has no agent, and one that has an agent does not become void, whoever is first", async () => {
    for (let round = 0; round < 20; round += 1) {
      const scene = await aRunScene();
      const [started] = await Promise.all([
        scene.start("echo ran"),
        wait(round).then(() => blockEpochs(scene.runDir, 1)),
      ]);
      const found = await waitForProcessEnd(scene.runDir, 1);
      expect(found).toEqual(started.won ? { state: "dead", exitCode: 0 } : { state: "void" });
      expect(existsSync(join(scene.runDir, "1.out")) ? scene.read("1.out") : "").toBe(started.won ? "ran\n" : "");
    }
  });

  test("does not touch those that come after it", async () => {
    const scene = await aRunScene();
    await scene.start("exit 4");
    await waitForProcessEnd(scene.runDir, 1);
    await blockEpochs(scene.runDir, 3);
    const states = await Promise.all([1, 2, 3, 4].map((epoch) => findAgentProcess(scene.runDir, epoch)));
    expect(states.map(({ state }) => state)).toEqual(["dead", "void", "void", "none"]);
  });

  test("is told from one whose pid file was cut off, of which nothing is known", async () => {
    const scene = await aRunScene();
    writeFileSync(join(scene.runDir, "1.pid"), "");
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "dead", exitCode: undefined });
    expect(await scene.start("true")).toEqual({ won: false });
  });
});

/** Different moments for different rounds, so that the two meet in every order. */
function wait(round: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, round % 5));
}
