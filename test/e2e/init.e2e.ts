import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Box, type Start, TYPED, startUnwired } from "./agent.ts";
import { PROGRAMS, type ProgramName, programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const ASKD = resolve("bin", "askd");
const LIMIT_MS = 60_000;
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  GEMINI_CLI_NO_RELAUNCH: "true",
  RUST_LOG: "error",
};

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** An empty home and a project in it, with all four programs on the path. */
function aHome() {
  const [home, dir] = ["home", "repo"].map((name) => join(stage.root, name)) as [string, string];
  for (const folder of [home, dir]) mkdirSync(folder, { recursive: true });
  const path = [...NAMES.map((name) => dirname(programFile(name))), process.env["PATH"]].join(":");
  const env = { PATH: path, HOME: home, ASKD_HOME: stage.askdHome, TERM: "dumb", LANG: "C.UTF-8", ...QUIET };
  const type = async (file: string, ...args: string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(file, args, { cwd: dir, env, timeout: LIMIT_MS });
    return stdout + stderr;
  };
  return { home, dir, type, askd: (...args: string[]) => type(process.execPath, ASKD, ...args) };
}

test("the programs themselves list askd as one of their servers, and do not any more after an undo", async () => {
  const { home, dir, type, askd } = aHome();
  // Gemini CLI starts no server in a folder that its user has not said to trust.
  mkdirSync(join(home, ".gemini"));
  const trust = '{ // mine\n  "security": { "folderTrust": { "enabled": false } }\n}\n';
  writeFileSync(join(home, ".gemini", "settings.json"), trust);
  expect(await askd("init", "--yes")).toMatch(
    /Found {3}Claude Code [\d.]+, Codex [\d.]+, Gemini CLI.*, OpenCode.*✓ 4 agents wired/s,
  );
  expect(await askd("init", "--undo")).toMatch(/is gone again/);
  expect(readdirSync(dir)).toEqual([]);
  for (const name of [".claude.json", ".codex/config.toml"]) expect(existsSync(join(home, name))).toBe(false);

  await askd("init", "--yes");
  expect(await type(programFile("claude"), "mcp", "list")).toMatch(/askd: .* mcp - ✔ Connected/);
  expect(await type(programFile("codex"), "mcp", "list")).toMatch(/^askd .* mcp .* enabled/m);
  expect(await type(programFile("gemini"), "mcp", "list")).toMatch(/✓ askd: .* mcp \(stdio\) - Connected/);
  expect(await type(programFile("opencode"), "mcp", "list")).toMatch(/✓ askd .*connected/);
  expect(await askd("init", "--yes")).toContain("4 agents already wired");

  // They have written to their files meanwhile, so only what is ours goes.
  expect(await askd("init", "--undo")).toContain("only what is of askd was taken out");
  expect(await type(programFile("claude"), "mcp", "list")).not.toContain("askd");
  expect(await type(programFile("codex"), "mcp", "list")).not.toMatch(/^askd /m);
  expect(readFileSync(join(home, ".gemini", "settings.json"), "utf8")).toBe(trust);
});

describe.each(NAMES)("%s as init has wired it", (program) => {
  test("asks with our tool and gets the answer, without any option for it", async () => {
    const { askd } = aHome();
    const name = {
      claude: "mcp__askd__ask_human",
      codex: "ask_human",
      gemini: "mcp_askd_ask_human",
      opencode: "askd_ask_human",
    };
    const steps = [
      { say: "I ask.", call: name[program], input: { question: "Redis or Memcached?" } },
      { say: "Final: {{result}}" },
    ];
    // What the program needs to run here is there before, as with people.
    const start = startUnwired(
      program,
      { home: join(stage.root, "home"), dir: join(stage.root, "repo"), modelUrl: await stage.startModel() },
      promptOf(steps),
    );
    await askd("init", "--yes", "--client", program);
    const { ended } = await stage.launch(() => start, { ASKD_HOME: stage.askdHome, ASKD_NO_SERVICE: "1" });
    const { id } = await stage.waiting();
    await stage.type("answer", id, "Memcached");
    const { exitCode, output } = await ended;
    expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
    expect(stage.results().join("\n")).toMatch(/Memcached/);
  });
});

describe.each(NAMES)("a run of %s in a project that init has wired", (program) => {
  test("is parked, answered and resumed as in any other", async () => {
    const { askd } = aHome();
    const { box, env } = await stage.box((at) => startUnwired(program, at, "").env);
    await askd("init", "--yes", "--client", program);
    await stage.work();
    const steps = [{ call: "ask_human", input: { question: "Redis or Memcached?" } }, { say: "Stop" }, { say: "Done" }];
    const command = [programFile(program), ...TYPED[program], promptOf(steps)];
    const number = Number(await stage.typeIn(box.dir, env, "run", "--live-window", "1s", "--", ...command));
    const engine = await stage.engine();
    const until = (status: string) =>
      stage.until(`#${number} is ${status}`, async () => {
        const [run] = (await engine.lookUp({ by: "number", number }, 1)).runs;
        return run?.status === status ? run : undefined;
      });
    const parked = await until("awaiting_input");
    expect(parked).toMatchObject({ agent: program, epoch: 1, asked: 1 });
    await stage.type("answer", String(number), "Memcached");
    expect(await until("completed")).toMatchObject({ session: parked.session, asked: 1 });
    expect(stage.told()).toMatch(/Memcached/);
  });
});

test("Claude Code's own question is kept by the hook that init has written, where nobody sits", async () => {
  const { askd } = aHome();
  await askd("init", "--yes", "--client", "claude");
  const options = ["Redis", "Memcached"].map((label) => ({ label, description: label }));
  const questions = [{ question: "Which cache?", header: "Cache", multiSelect: false, options }];
  const prompt = promptOf([{ call: "AskUserQuestion", input: { questions } }, { say: "Final: {{result}}" }]);
  const build = (box: Box): Start => {
    const start = startUnwired("claude", box, prompt);
    return { ...start, argv: [...start.argv, "--permission-prompt-tool", "stdio"] };
  };
  const { ended } = await stage.launch(build, { ASKD_HOME: stage.askdHome, ASKD_NO_SERVICE: "1" });
  const { id } = await stage.waiting();
  await stage.type("answer", id, "Memcached");
  const { exitCode, output } = await ended;
  expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
  expect(stage.results().join("\n")).toContain('"Which cache?"="Memcached"');
});
