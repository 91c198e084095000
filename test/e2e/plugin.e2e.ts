import { execFile } from "node:child_process";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Question } from "../../src/core/question/question.ts";
import { AGENTS, type Box, claudeEnv } from "./agent.ts";
import { type ProgramName, programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const QUESTION = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const script = (call: string) => [{ say: "I need to know.", call, input: QUESTION }, { say: "Final: {{result}}" }];

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** Runs a program to its end in the home of the stage; one that fails fails the test with what it said. */
async function run(program: ProgramName, box: Box, env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(programFile(program), args, { cwd: box.dir, env });
  return `${stdout}${stderr}`;
}

/**
 * A copy of what the marketplace offers that starts this very program: npx finds no package that is not published.
 * Everything else in it stays as it is.
 */
function copyMarket(to: string, askdHome: string): string {
  for (const name of [".claude-plugin", "plugin"]) cpSync(resolve(name), join(to, name), { recursive: true });
  const askd = resolve("bin", "askd");
  for (const name of readdirSync(join(to, "plugin"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".json")) continue;
    const file = join(to, "plugin", name);
    const text = readFileSync(file, "utf8")
      .replace(/"command": "npx"/g, '"command": "node"')
      .replace(
        /"-y", "askd@[^"]+", "mcp"\]/g,
        `${JSON.stringify(askd)}, "mcp"], "env": ${JSON.stringify({ ASKD_HOME: askdHome })}`,
      )
      .replace(/npx -y askd@\S+/g, `node ${askd}`);
    writeFileSync(file, text);
  }
  return to;
}

describe("the plugin", () => {
  test("passes what Claude Code's directory asks of plugins, strictly", async () => {
    const { box, env } = await stage.box(claudeEnv);
    const check = ["plugin", "validate", "--strict", "--profile", "directory"];
    expect(await run("claude", box, env, ...check, resolve("plugin"))).toContain("Validation passed");
    expect(await run("claude", box, env, "plugin", "validate", "--strict", resolve("."))).toContain(
      "Validation passed",
    );
  });

  test("passes the validation of Gemini CLI", async () => {
    const { box, env } = await stage.box(() => ({}));
    const said = await run("gemini", box, env, "extensions", "validate", resolve("plugin"));
    expect(said).toContain("has been successfully validated");
  });

  test("is installed in Claude Code from the marketplace, and its ask_human is called without being asked for leave", async () => {
    const { box, env } = await stage.box(claudeEnv);
    const market = copyMarket(join(stage.root, "market"), stage.askdHome);
    await run("claude", box, env, "plugin", "marketplace", "add", market);
    await run("claude", box, env, "plugin", "install", "askd@askd");
    const ask = "mcp__plugin_askd_askd__ask_human";
    const flags = ["--output-format", "stream-json", "--verbose"];
    const { ended } = await stage.launch(() => ({
      argv: [programFile("claude"), "-p", promptOf(script(ask)), ...flags],
      env: claudeEnv(box),
    }));
    expect(await answerIt(ended)).toMatchObject({ status: "answered", handover: { state: "given" } });
  });

  test("takes the questions of Claude Code's own tool where nobody sits there", async () => {
    const { box, env } = await stage.box(claudeEnv);
    const market = copyMarket(join(stage.root, "market"), stage.askdHome);
    await run("claude", box, env, "plugin", "marketplace", "add", market);
    await run("claude", box, env, "plugin", "install", "askd@askd");
    const options = [
      { label: "Redis", description: "pub/sub" },
      { label: "Memcached", description: "simple" },
    ];
    const questions = [{ question: "Redis or Memcached?", header: "Cache", multiSelect: false, options }];
    const steps = [{ say: "I ask.", call: "AskUserQuestion", input: { questions } }, { say: "Final: {{result}}" }];
    const flags = ["--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"];
    const { ended } = await stage.launch(
      () => ({ argv: [programFile("claude"), "-p", promptOf(steps), ...flags], env: claudeEnv(box) }),
      { ASKD_HOME: stage.askdHome },
    );
    const { id } = await stage.waiting();
    await stage.type("answer", id, "Memcached");
    const { exitCode, output } = await ended;
    expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
    expect(stage.results().join("\n")).toContain('"Redis or Memcached?"="Memcached"');
  });

  test("is installed in Codex from the same marketplace, and its ask_human is called", async () => {
    const { box, env } = await stage.box(() => ({ MOCK_API_KEY: "dummy-key", RUST_LOG: "error" }));
    const market = copyMarket(join(stage.root, "market"), stage.askdHome);
    const start = AGENTS.codex(box, { kind: "none" }, promptOf(script("ask_human")));
    await run("codex", box, env, "plugin", "marketplace", "add", market);
    await run("codex", box, env, "plugin", "add", "askd@askd");
    const { ended } = await stage.launch(() => start);
    expect(await answerIt(ended)).toMatchObject({ status: "answered", handover: { state: "given" } });
  });
});

/** Answers what is asked, sees the agent told so, and gives what became of the question. */
async function answerIt(ended: Promise<{ exitCode: number | null; output: string }>): Promise<Question> {
  const { id } = await stage.until("a question waits", async () => {
    const over = await Promise.race([ended, Promise.resolve(undefined)]);
    if (over) throw new Error(`it ended before it asked: ${over.output}`);
    const [question] = await (await stage.engine()).listQuestions({ status: "pending", order: "oldest", limit: 1 });
    return question;
  });
  await stage.type("answer", id, "Memcached");
  const { exitCode, output } = await ended;
  expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
  expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
  return (await (await stage.engine()).read(id)).question;
}
