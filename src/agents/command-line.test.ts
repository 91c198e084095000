import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Agent, Task } from "./agent.ts";
import { claude } from "./claude/claude.ts";
import { codex } from "./codex/codex.ts";
import { command } from "./command/command.ts";
import { gemini } from "./gemini/gemini.ts";
import { IDS } from "../../test/builders.ts";
import { taskOf } from "./runner/launch.ts";
import { opencode } from "./opencode/opencode.ts";

function aTask(fields: Partial<Task> = {}): Task {
  return {
    runId: "r_1",
    epoch: 1,
    startDir: "/runs/1",
    dir: "/repo",
    program: "/bin/agent",
    args: [],
    env: {},
    prompt: "Do it.",
    version: undefined,
    askd: ["node", "/opt/my tools/askd"],
    token: "tok",
    promptTool: undefined,
    resumeWith: undefined,
    liveWindowMs: 180_000,
    maxTurns: undefined,
    budgetUsd: undefined,
    ...fields,
  };
}

/** The command line that these arguments of a user lead to, without the words that are always ours. */
function started(agent: Agent, given: readonly string[], fields: Partial<Task> = {}) {
  const { args, prompt } = agent.parseArgs(given);
  return agent.start(aTask({ ...fields, args, prompt }));
}

const resumed = (agent: Agent, given: readonly string[]) =>
  agent.resume({ ...aTask({ args: agent.parseArgs(given).args }), session: "s-1" }, { by: "message", text: "Redis." });

describe("the prompt is found, and everything else is kept,", () => {
  const table: Array<[Agent, string[], string | undefined, string[]]> = [
    [claude, ["-p", "Do it."], "Do it.", ["-p"]],
    [claude, ["-p", "Do it.", "--model", "opus"], "Do it.", ["-p", "--model", "opus"]],
    [claude, ["--model", "opus", "-p", "Do it."], "Do it.", ["--model", "opus", "-p"]],
    [claude, ["--model=opus", "--print", "--", "--odd"], "--odd", ["--model=opus", "--print"]],
    [
      claude,
      ["-p", "Do it.", "--allowedTools", "Edit", "Bash(git *)"],
      "Do it.",
      ["-p", "--allowedTools", "Edit", "Bash(git *)"],
    ],
    [claude, ["-p", "--new-option", "value", "Do it."], "Do it.", ["-p", "--new-option", "value"]],
    [claude, ["-p", "--allowedTools", "Edit", "Do it."], undefined, ["-p", "--allowedTools", "Edit", "Do it."]],
    [claude, ["-r", "s-0", "-p", "Do it."], "Do it.", ["-r", "s-0", "-p"]],
    [claude, ["Do it."], "Do it.", []],
    [claude, ["-p"], undefined, ["-p"]],
    [claude, [], undefined, []],
    [codex, ["exec", "Do it."], "Do it.", ["exec"]],
    [codex, ["Do it."], "Do it.", []],
    [
      codex,
      ["-a", "never", "exec", "-m", "gpt-5", "Do it.", "--json"],
      "Do it.",
      ["-a", "never", "exec", "-m", "gpt-5", "--json"],
    ],
    [codex, ["exec", "-mgpt-5", "-c", "x=1", "Do it."], "Do it.", ["exec", "-mgpt-5", "-c", "x=1"]],
    [codex, ["exec", "resume", "s-0", "Do it."], "Do it.", ["exec", "resume", "s-0"]],
    [codex, ["exec", "resume", "--last", "Do it."], "Do it.", ["exec", "resume", "--last"]],
    [codex, ["exec", "-p", "work", "-"], undefined, ["exec", "-p", "work"]],
    [gemini, ["-p", "Do it."], "Do it.", []],
    [gemini, ["--prompt=Do it.", "-m", "pro"], "Do it.", ["-m", "pro"]],
    [gemini, ["-m", "pro", "Do", "it."], "Do it.", ["-m", "pro"]],
    [gemini, ["-y", "Do it.", "--policy", "a", "b"], "Do it.", ["-y", "--policy", "a", "b"]],
    [opencode, ["run", "Do", "it."], "Do it.", ["run"]],
    [opencode, ["run", "-m", "a/b", "--", "-odd"], "-odd", ["run", "-m", "a/b"]],
    [
      opencode,
      ["run", "--agent", "plan", "Do it.", "-f", "a.txt"],
      "Do it.",
      ["run", "--agent", "plan", "-f", "a.txt"],
    ],
    [opencode, ["Do it."], "Do it.", []],
    [command, ["-x", "Do it."], undefined, ["-x", "Do it."]],
  ];
  test.each(table.map(([agent, ...row]) => [agent.name, agent, ...row] as const))(
    "in %s with %j",
    (_, agent, given, prompt, args) => {
      expect(agent.parseArgs(given)).toMatchObject({ args, prompt });
    },
  );
});

describe("a session of claude that somebody else started", () => {
  test.each<[string, string[], string | undefined, string[] | undefined]>([
    ["the prompt", ["-p", "Do it.", "--model", "opus"], undefined, ["--model", "opus"]],
    ["what chose the session", ["-c", "-p", "Go on.", "--resume", "s-0", "--fork-session"], undefined, []],
    ["its own session id", ["--session-id=s-0", "--print", "x", "--verbose"], undefined, ["--verbose"]],
    ["how prompts came in", ["-p", "--input-format", "stream-json", "--replay-user-messages"], undefined, []],
    ["a worktree that is there by now", ["-p", "x", "--worktree", "w"], undefined, []],
  ])("is resumed without %s", (_, args, mode, kept) => {
    expect(claude.optionsToResume?.(args, mode)).toEqual(kept);
  });

  test("is resumed with its permission mode of now, unless the command line says one", () => {
    const options = (args: string[], mode: string) => claude.optionsToResume?.(["-p", "x", ...args], mode);
    expect(options([], "acceptEdits")).toEqual(["--permission-mode", "acceptEdits"]);
    expect(options([], "default")).toEqual([]);
    expect(options(["--permission-mode", "plan"], "acceptEdits")).toEqual(["--permission-mode", "plan"]);
    expect(options(["--dangerously-skip-permissions"], "plan")).toEqual(["--dangerously-skip-permissions"]);
  });

  test("keeps all other options as they were", () => {
    const kept = ["--mcp-config", "a.json", "b.json", "--settings", "s.json", "--add-dir", "../x", "--max-turns", "3"];
    expect(claude.optionsToResume?.(["-p", "x", ...kept], undefined)).toEqual(kept);
  });

  test("is not resumed where it is not kept, or the command line is another one", () => {
    expect(claude.optionsToResume?.(["-p", "x", "--no-session-persistence"], undefined)).toBeUndefined();
    expect(claude.optionsToResume?.([], undefined)).toBeUndefined();
  });
});

test.each([claude, codex, gemini, opencode])(
  "$name gets its prompt and its answers where nobody sees them",
  (agent) => {
    const start = started(agent, ["a secret prompt"]);
    expect(start.argv.join(" ")).not.toContain("secret");
    expect(start.stdin).toContain("a secret prompt");
    const again = resumed(agent, ["a secret prompt"]);
    expect(again).toMatchObject({ stdin: "Redis.", session: "s-1" });
    expect(again.argv).toContain("s-1");
    expect([...again.argv, ...Object.values(again.env)].join(" ")).not.toMatch(/secret|Redis|tok\b/);
  },
);

test.each([claude, codex, gemini, opencode, command])("$name knows its run by environment and by a file", (agent) => {
  const { env, files } = agent.start(aTask());
  expect(env).toMatchObject({ ASKD_RUN: "r_1", ASKD_EPOCH: "1" });
  expect(files).toContainEqual({ name: "run", text: "ASKD_RUN=r_1\nASKD_EPOCH=1\nASKD_TOKEN=tok\n" });
});

describe("Claude Code", () => {
  const settingsOf = (files: ReadonlyArray<{ name: string; text: string }>): unknown =>
    JSON.parse(files.find(({ name }) => name === "claude-settings.json")?.text ?? "null");

  test("is started with what is missing, and says what that is", () => {
    const start = started(claude, ["-p", "Do it.", "--model", "opus"]);
    expect(start.argv).toEqual([
      "/bin/agent",
      "--print",
      "--output-format",
      "stream-json",
      "--verbose",
      "--model",
      "opus",
      "--session-id",
      start.session,
      "--mcp-config",
      "/runs/1/claude-mcp.json",
      "--allowedTools",
      "mcp__askd__ask_human,mcp__askd__check_answer,mcp__askd__cancel_question",
      "--settings",
      "/runs/1/claude-settings.json",
      "--permission-prompt-tool",
      "stdio",
    ]);
    expect(start.session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(start.prints).toBe("words");
    expect(start.added.join("\n")).toMatch(/stream-json.*session-id.*tools of askd.*hook/s);
    expect(start.added.join("\n")).not.toContain("--print,");
    expect(settingsOf(start.files)).toEqual({
      hooks: {
        PreToolUse: [
          {
            matcher: "AskUserQuestion",
            hooks: [
              {
                type: "command",
                command: "node '/opt/my tools/askd' hook claude --hold 180s --timeout 210s",
                timeout: 210,
              },
            ],
          },
        ],
      },
    });
  });

  test("gets another session for every start of a run", () => {
    const sessions = [1, 2].map((epoch) => started(claude, ["x"], { epoch }).session);
    expect(new Set(sessions).size).toBe(2);
  });

  test("keeps a session that the user chose", () => {
    expect(started(claude, ["-p", "x", "--session-id", "s-0"])).toMatchObject({ session: "s-0" });
    const start = started(claude, ["-p", "x", "--resume", "s-0"]);
    expect(start.session).toBeUndefined();
    expect(start.argv).not.toContain("--session-id");
  });

  test("is resumed without what chose its first session", () => {
    const { argv } = resumed(claude, ["-p", "x", "--session-id", "s-0", "-c", "--fork-session", "--model", "opus"]);
    expect(argv).toEqual(expect.arrayContaining(["--resume", "s-1", "--model", "opus"]));
    expect(argv).not.toEqual(expect.arrayContaining(["--session-id"]));
    expect(argv.join(" ")).not.toMatch(/s-0|-c |--fork/);
  });

  test("is resumed at its call without a word", () => {
    const start = claude.resume({ ...aTask(), session: "s-1" }, { by: "call", callId: "toolu_1" });
    expect(start.stdin).toBeUndefined();
    expect(start.argv).toEqual(expect.arrayContaining(["--resume", "s-1", "--settings", "--permission-prompt-tool"]));
  });

  test.each([
    ["--output-format stream-json", "lines"],
    ["--output-format=json", "report"],
    ["--output-format text", "words"],
    ["", "words"],
  ])("with %j prints %s for its user", (flags, prints) => {
    const start = started(claude, ["-p", "x", ...flags.split(" ").filter(Boolean)]);
    expect(start.prints).toBe(prints);
    expect(start.argv.filter((word) => word.startsWith("--output-format"))).toEqual(["--output-format"]);
  });

  test("has the user's own settings beside our hook, from a file or as JSON", () => {
    const dir = mkdtempSync(join(tmpdir(), "askd-claude-"));
    try {
      const own = { model: "x", hooks: { Stop: [], PreToolUse: [{ matcher: "Bash", hooks: [] }] } };
      writeFileSync(join(dir, "own.json"), JSON.stringify(own));
      for (const given of ["own.json", JSON.stringify(own)]) {
        const { argv, files } = started(claude, ["-p", "x", "--settings", given], { dir });
        expect(argv.filter((word) => word === "--settings")).toHaveLength(1);
        expect(settingsOf(files)).toMatchObject({
          model: "x",
          hooks: { Stop: [], PreToolUse: [{ matcher: "Bash" }, { matcher: "AskUserQuestion" }] },
        });
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test.each([
    ["2.1.325 (Claude Code)", undefined, "--settings … --permission-prompt-tool stdio", "a hook"],
    ["2.1.89", "approve", "--settings … --permission-prompt-tool mcp__askd__approve", "a hook"],
    ["2.1.88", "approve", "--permission-prompt-tool mcp__askd__approve", "2.1.88 cannot put a question off"],
    ["2.0.76", "approve", "--permission-prompt-tool mcp__askd__approve", "answers while it waits"],
    ["2.1.88", undefined, "--disallowedTools AskUserQuestion", "tools of askd only"],
    ["2.0.60", "approve", "--disallowedTools AskUserQuestion", "tools of askd only"],
    [undefined, undefined, "--settings … --permission-prompt-tool stdio", "a hook"],
  ])("of version %s with prompt tool %s asks by %s", (version, promptTool, ends, said) => {
    const start = started(claude, ["-p", "x"], { version, promptTool });
    expect(start.argv.join(" ").replace("/runs/1/claude-settings.json", "…")).toMatch(new RegExp(`${ends}$`));
    expect(start.argv.includes("--settings")).toBe(ends.includes("--settings"));
    expect(start.added.join("\n")).toContain(said);
  });

  test.each([
    [["--bare"], "--disallowedTools AskUserQuestion"],
    [["--settings", "missing.json"], "--disallowedTools AskUserQuestion"],
    [["--permission-prompt-tool", "mine"], "--settings /runs/1/claude-settings.json"],
  ])("with %j leaves the user's choice alone", (flags, ends) => {
    const { argv } = started(claude, ["-p", "x", ...flags]);
    expect(argv).toEqual(expect.arrayContaining(flags));
    expect(argv.join(" ")).toMatch(new RegExp(`${ends}$`));
  });

  test("gets the limits of its run", () => {
    const limits = { maxTurns: 5, budgetUsd: 1.5 };
    expect(started(claude, ["-p", "x"], limits).argv.join(" ")).toContain("--max-turns 5 --max-budget-usd 1.5");
  });

  test("has its own limits taken out of its command line, because it would count them from each start", () => {
    const given = ["-p", "x", "--max-turns", "9", "--max-turns=4", "--model", "opus", "--max-budget-usd", "0.5"];
    expect(claude.parseArgs(given)).toEqual({
      args: ["-p", "--model", "opus"],
      prompt: "x",
      limits: { maxTurns: 4, budgetUsd: 0.5 },
    });
  });

  test.each([
    ["--max-turns", "few"],
    ["--max-turns", "0"],
    ["--max-budget-usd", "$2"],
  ])("refuses %s %s by itself", (name, value) => {
    const { args, limits } = claude.parseArgs(["-p", "x", name, value]);
    expect(args).toEqual(["-p", name, value]);
    expect(limits).toEqual({});
    expect(started(claude, ["-p", "x", name, value], { maxTurns: 5, budgetUsd: 1.5 }).argv).toContain(value);
  });
});

test.each([
  ["Codex", codex],
  ["Gemini CLI", gemini],
  ["OpenCode", opencode],
])("%s is not offered the tool that answers Claude Code's permission prompts", (_, agent) => {
  const start = started(agent, ["Do it."], { promptTool: "approve" });
  expect(JSON.stringify([start.argv, start.env, start.files])).not.toContain("cancel_question,approve");
});

test.each([claude, codex, gemini, opencode, command])("$name is told the live window of its run", (agent) => {
  expect(started(agent, ["x"], { liveWindowMs: 20_000 }).env).toMatchObject({ ASKD_LIVE_WINDOW: "20s" });
});

test("the limits of a run count over all its starts", () => {
  const launch = {
    agent: "claude",
    program: "/bin/claude",
    args: [],
    dir: "/",
    env: {},
    options: { maxTurns: 4, budgetUsd: 0.012 },
  };
  const at = { epoch: 2, startDir: "/runs/1", askd: ["askd"], liveWindowMs: 1000, version: undefined };
  const used = { turns: 3, costUsd: 0.01, inputTokens: 0, outputTokens: 0 };
  const left = (row: typeof used) => claude.start(taskOf({ id: IDS.run() }, at, launch, row)).argv.join(" ");
  expect(left(used)).toMatch(/--max-turns 1 --max-budget-usd 0\.002/);
  expect(left({ ...used, turns: 9, costUsd: 1 })).toMatch(/--max-turns 1 --max-budget-usd 0\.000001/);
});

describe("how to ask by a result", () => {
  const SCHEMA = JSON.stringify({ properties: { status: { enum: ["completed", "needs_input"] } } });

  test("is told to Claude Code where its result can ask", () => {
    const start = started(claude, ["-p", "Do it.", "--json-schema", SCHEMA]);
    expect(start.stdin).toMatch(/^Do it\.\n\n## Asking a person\n\nEnd with a JSON object\.[^]*"needs_input"/);
    expect(started(claude, ["-p", "Do it.", "--json-schema", "{}"]).stdin).toBe("Do it.");
  });

  test("is told to Codex where its result can ask", () => {
    const dir = mkdtempSync(join(tmpdir(), "askd-schema-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    writeFileSync(join(dir, "asks.json"), SCHEMA);
    writeFileSync(join(dir, "plain.json"), "{}");
    const said = (file: string) => started(codex, ["exec", "--output-schema", file, "Do it."], { dir }).stdin;
    expect(said("asks.json")).toContain("End with a JSON object.");
    expect([said("plain.json"), said("missing.json")]).toEqual(["Do it.", "Do it."]);
  });
});

describe("Codex", () => {
  const CONFIG = expect.stringMatching(
    /^mcp_servers\.askd=\{command="node",args=\[.*"--run-file","\/runs\/1\/run"\],env_vars=\[.*\],default_tools_approval_mode="approve",tool_timeout_sec=240,startup_timeout_sec=60,required=true\}$/,
  );

  test("keeps options where they stood and reads its prompt from stdin", () => {
    expect(started(codex, ["-a", "never", "exec", "-s", "read-only", "Do it."]).argv).toEqual([
      "/bin/agent",
      "-a",
      "never",
      "exec",
      "-s",
      "read-only",
      "--json",
      "--config",
      CONFIG,
      "-",
    ]);
  });

  test("is resumed by its id, without what belonged to its first prompt", () => {
    expect(resumed(codex, ["exec", "--json", "-i", "a.png", "--sandbox", "read-only", "Do it."]).argv).toEqual([
      "/bin/agent",
      "exec",
      "--json",
      "--sandbox",
      "read-only",
      "--config",
      CONFIG,
      "resume",
      "s-1",
      "-",
    ]);
    expect(resumed(codex, ["exec", "resume", "s-0", "--last", "Do it."]).argv.join(" ")).not.toMatch(/s-0|--last/);
  });

  test("cannot be resumed at a call", () => {
    expect(() => codex.resume({ ...aTask(), session: "s-1" }, { by: "call", callId: "c" })).toThrow(/send a message/);
  });
});

describe("Gemini CLI", () => {
  test("is started with a session of our choice and resumed by it", () => {
    const start = started(gemini, ["-m", "pro", "-p", "Do it."]);
    expect(start.argv).toEqual([
      "/bin/agent",
      "-m",
      "pro",
      "--output-format",
      "stream-json",
      "--session-id",
      start.session,
    ]);
    expect(resumed(gemini, ["-m", "pro", "-o", "text", "-p", "x"]).argv).toEqual([
      "/bin/agent",
      "-m",
      "pro",
      "--output-format",
      "stream-json",
      "--resume",
      "s-1",
    ]);
  });

  test("has our tools, or is told how to ask by a marker", () => {
    const { env, stdin } = started(gemini, ["Do it."]);
    const hasTools = env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] !== undefined;
    expect(stdin?.includes("<<ASK_HUMAN>>")).toBe(!hasTools);
    const taken = started(gemini, ["Do it."], { env: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "/own" } });
    expect(taken.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"]).toBeUndefined();
    expect(taken.stdin).toContain("<<ASK_HUMAN>>");
  });
});

describe("OpenCode", () => {
  test("is always told its directory", () => {
    expect(started(opencode, ["run", "-m", "a/b", "Do it."]).argv).toEqual([
      "/bin/agent",
      "run",
      "-m",
      "a/b",
      "--format",
      "json",
      "--dir",
      "/repo",
    ]);
    expect(
      resumed(opencode, ["run", "--title", "T", "--dir", "/x", "-s", "s-0", "--format", "json", "x"]).argv,
    ).toEqual(["/bin/agent", "run", "--dir", "/x", "--format", "json", "--session", "s-1"]);
  });

  test("keeps what the user's variable configures", () => {
    const own = JSON.stringify({ model: "a/b", mcp: { other: { type: "local" } } });
    const { env } = started(opencode, ["run", "x"], { env: { OPENCODE_CONFIG_CONTENT: own } });
    expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({
      model: "a/b",
      mcp: { other: { type: "local" }, askd: { type: "local", enabled: true, timeout: 240_000 } },
    });
  });
});

describe("any other program", () => {
  const task = { ...aTask({ args: ["-x"], prompt: undefined }), session: "s-1" };
  const how = { by: "message", text: "Use $& and {session}." } as const;

  test("is started as it is", () => {
    const start = command.start(task);
    expect(start).toMatchObject({ argv: ["/bin/agent", "-x"], stdin: undefined, prints: "lines", added: [] });
  });

  test("is started again with the message on stdin and in a file", () => {
    const start = command.resume(task, how);
    expect(start).toMatchObject({ argv: ["/bin/agent", "-x"], stdin: how.text });
    expect(start.env).toMatchObject({ ASKD_ANSWER_FILE: "/runs/1/answer" });
    expect(start.files).toContainEqual({ name: "answer", text: how.text });
  });

  test("is resumed the way its user said, each value as one word", () => {
    const resumeWith = ["my agent", "--resume={session}", "{message}", "{other}"];
    expect(command.resume({ ...task, resumeWith }, how).argv).toEqual([
      "my agent",
      "--resume=s-1",
      "Use $& and {session}.",
      "{other}",
    ]);
  });

  test("says words, line by line", () => {
    expect(command.read("Hello {")).toEqual([{ kind: "text", text: "Hello {\n", isPiece: true }]);
    expect(command.read('{"type":"log"}')).toEqual([{ kind: "text", text: '{"type":"log"}\n', isPiece: true }]);
  });
});

test("a person goes on in the agent's own interface", () => {
  const shown = [claude, codex, gemini, opencode].map((agent) => agent.takeover("s-1", agent.program).join(" "));
  expect(shown).toEqual(["claude --resume s-1", "codex resume s-1", "gemini --resume s-1", "opencode --session s-1"]);
});
