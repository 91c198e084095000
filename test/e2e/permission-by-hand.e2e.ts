import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { isPending } from "../../src/core/question/question.ts";
import { ADA } from "../builders.ts";
import { said } from "../scene.ts";
import { type Box, addClaudeHook, addCodexHook, addGeminiHook, claudeEnv, startUnwired } from "./agent.ts";
import { type HandDoor, HandSession } from "./hand-session.ts";
import { type ProgramName, programFile } from "./install.ts";
import { type Stage, onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** Leaves a line for each time that it runs. Only its output, and no question about it, shows that it ran. */
const COMMAND = "echo line >> lines.txt && printf 'it-%s-run' was";
const RAN = "it-was-run";
const STOP = { say: "I stop here.", stop: true };
const DONE = { say: "Done." };

/** A session that a person starts, and the tool in it that waits for a permission. */
interface Door extends HandDoor {
  use: object;
}

const bash = (call: string) => ({ call, input: { command: COMMAND, description: "leaves a line" } });

const claudeByPrompt = (server: (stage: Stage, window: string) => Promise<object> | object): Door => ({
  program: "claude",
  use: bash("Bash"),
  start: async (stage, box, prompt, window) => {
    const config = JSON.stringify({ mcpServers: { askd: await server(stage, window) } });
    const flags = ["--output-format", "stream-json", "--verbose", "--mcp-config", config, "--strict-mcp-config"];
    const tool = ["--permission-prompt-tool", "mcp__askd__approve"];
    return { argv: [programFile("claude"), "-p", prompt, ...flags, ...tool], env: claudeEnv(box) };
  },
});

const hooked = (program: ProgramName, use: object, more: readonly string[], add: (box: Box) => void): Door => ({
  program,
  use,
  start: (_, box, prompt) => {
    const { argv, env } = startUnwired(program, box, prompt);
    add(box);
    // The prompt of Codex is its last word.
    return { argv: argv.toSpliced(program === "codex" ? -1 : argv.length, 0, ...more), env };
  },
});

const DOORS: Record<string, Door> = {
  "claude, by its hook": {
    ...hooked("claude", bash("Bash"), ["--allowedTools", "Bash"], (box) => addClaudeHook(box, "Bash")),
    isResumed: true,
  },
  "claude, by our permission prompt tool over stdio": claudeByPrompt((stage) => {
    const { argv, env } = stage.stdio();
    return { type: "stdio", command: argv[0], args: [...argv.slice(1), "--tools", "approve"], env };
  }),
  "claude, by our permission prompt tool over HTTP": claudeByPrompt(async (stage, window) => {
    const { url, token } = await stage.http({ ASKD_LIVE_WINDOW: window });
    return { type: "http", url: `${url}?tools=approve`, headers: { Authorization: `Bearer ${token}` } };
  }),
  "gemini, by its hook": hooked("gemini", bash("run_shell_command"), ["--yolo"], (box) =>
    addGeminiHook(box, "run_shell_command"),
  ),
  "codex, by its hook": hooked(
    "codex",
    { call: "exec_command", input: { cmd: COMMAND } },
    ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"],
    (box) => addCodexHook(box, "Bash"),
  ),
};

function linesIn({ root }: Stage): number {
  const file = join(root, "repo", "lines.txt");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

async function asked(stage: Stage, nth: number) {
  const engine = await stage.engine();
  return stage.until(`it asks question ${nth}`, async () => {
    const found = (await engine.listQuestions({ order: "oldest", limit: 9 }))[nth - 1];
    return found && isPending(found) ? found : undefined;
  });
}

async function answer(stage: Stage, nth: number, text: string, note?: string): Promise<void> {
  await (
    await stage.engine()
  ).answer((await asked(stage, nth)).id, said(text, note === undefined ? {} : { note }), ADA);
}

async function expectAllGiven(stage: Stage, count: number): Promise<void> {
  const questions = await (await stage.engine()).listQuestions({ order: "oldest", limit: 9 });
  const given = { status: "answered", handover: { state: "given" } };
  expect(questions).toMatchObject(Array.from({ length: count }, () => given));
}

describe.concurrent.for(Object.entries(DOORS))("permission in a session that a person started (%s)", ([, door]) => {
  const steps = [untilTold(RAN, door.use), untilTold("once-is-enough", door.use), STOP, DONE];

  test("that is given while the agent waits has the tool run once, and holds for no other", () =>
    onStage(async (stage) => {
      const { ended } = await new HandSession(stage, door, "40s").begin(steps);
      await answer(stage, 1, "allow");
      await answer(stage, 2, "deny", "once-is-enough");
      await ended;
      await expectAllGiven(stage, 2);
      expect({ lines: linesIn(stage), told: stage.timesTold("once-is-enough") }).toEqual({ lines: 1, told: 1 });
    }));

  test("that is given after the session has ended has the next try run, and holds for no other", () =>
    onStage(async (stage) => {
      const session = new HandSession(stage, door, "1s");
      await (
        await session.begin(steps)
      ).ended;
      expect(linesIn(stage)).toBe(0);
      await answer(stage, 1, "allow");
      await session.goOn();
      expect(linesIn(stage)).toBe(1);
      await answer(stage, 2, "deny", "once-is-enough");
      await session.goOn();
      await expectAllGiven(stage, 2);
      expect({ lines: linesIn(stage), told: stage.timesTold("once-is-enough") }).toEqual({ lines: 1, told: 1 });
    }));
});
