import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ASKD_LINE, addClaudeHook, addCodexHook, addGeminiHook } from "./agent.ts";
import { BackgroundRun, type RunOptions } from "./background-run.ts";
import { onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** Leaves a line for each time that it runs. Only its output, and no question about it, shows that it ran. */
const COMMAND = "echo line >> lines.txt && printf 'it-%s-run' was";
const RAN = "it-was-run";

const ASK = { call: "ask_human", input: { question: "Which cache?", timeout_seconds: 60 } };
const DONE = { say: "Done." };

/** An agent that asks before it uses a tool, and that tool. */
const DOORS: Record<string, Omit<RunOptions, "steps" | "window"> & { use: object }> = {
  "claude, by its permission prompt": {
    program: "claude",
    use: { call: "Bash", input: { command: COMMAND, description: "leaves a line" } },
  },
  "claude, by a hook of its user": {
    program: "claude",
    configure: (box) => addClaudeHook(box, "Bash"),
    flags: ["--allowedTools", "Bash"],
    use: { call: "Bash", input: { command: COMMAND, description: "leaves a line" } },
  },
  "gemini, by a hook of its user": {
    program: "gemini",
    configure: (box) => addGeminiHook(box, "run_shell_command"),
    flags: ["--yolo"],
    use: { call: "run_shell_command", input: { command: COMMAND, description: "leaves a line" } },
  },
  "codex, by a hook of its user": {
    program: "codex",
    configure: (box) => addCodexHook(box, "Bash"),
    flags: ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"],
    use: { call: "exec_command", input: { cmd: COMMAND } },
  },
  "codex, by its app-server": {
    program: "codex",
    env: { ASKD_CODEX: "app-server" },
    use: {
      call: "exec_command",
      input: { cmd: COMMAND, sandbox_permissions: "require_escalated", justification: "It leaves a line." },
    },
  },
  "opencode, by its server": {
    program: "opencode",
    env: { ASKD_OPENCODE: "serve" },
    config: { permission: { bash: "ask" } },
    use: { call: "bash", input: { command: COMMAND, description: "leaves a line" } },
  },
};

function linesIn({ dir }: BackgroundRun): number {
  const file = join(dir, "lines.txt");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

describe.concurrent.for(Object.entries(DOORS))("permission to use a tool (%s)", ([, { use, ...options }]) => {
  test("that is given while the agent waits has the tool run once, in the same start", () =>
    onStage(async (stage) => {
      const steps = [untilTold(RAN, use), DONE];
      const run = await BackgroundRun.start(stage, { ...options, window: "60s", steps });
      const asked = await run.asked(1);
      expect(asked.kind).toBe("approval");
      await run.answer(asked, "allow");
      const { epoch } = await run.completed();
      const types = (await run.trail()).map(({ type }) => type);
      expect({ starts: epoch, lines: linesIn(run), asked: (await run.questions()).length }).toEqual({
        starts: 1,
        lines: 1,
        asked: 1,
      });
      expect(types).toContain("question.given");
    }));

  test("that is refused while the agent waits is told in the same start, and the tool never runs", () =>
    onStage(async (stage) => {
      const run = await BackgroundRun.start(stage, { ...options, window: "40s", steps: [use, DONE] });
      await run.answer(await run.asked(1), "deny", { note: "not-on-this-machine" });
      const { epoch } = await run.completed();
      expect({ starts: epoch, lines: linesIn(run) }).toEqual({ starts: 1, lines: 0 });
      expect(await run.questions()).toMatchObject([{ status: "answered", handover: { state: "given" } }]);
    }));

  test("that is given while the run is parked has the next try run, and holds for no other", () =>
    onStage(async (stage) => {
      const steps = [untilTold(RAN, use), untilTold("once-is-enough", use), { say: "I stop here.", stop: true }, DONE];
      const run = await BackgroundRun.start(stage, { ...options, window: "1s", steps });
      const asked = await run.asked(1);
      await run.parked();
      expect(linesIn(run)).toBe(0);
      await run.answer(asked, "allow");
      const again = await run.asked(2);
      await run.parked();
      await run.answer(again, "deny", { note: "once-is-enough" });
      await run.completed();
      expect({ lines: linesIn(run), asked: (await run.questions()).length }).toEqual({ lines: 1, asked: 2 });
      expect(stage.timesTold("once-is-enough")).toBe(1);
    }));

  test("that is given before the agent has ended has the next try run, once", () =>
    onStage(async (stage) => {
      const gate = join(stage.root, "gate");
      const stop = { say: "I stop here.", stop: true, after: gate };
      const steps = [untilTold("answer-one", ASK), untilTold(RAN, use), stop, DONE];
      const run = await BackgroundRun.start(stage, { ...options, window: "1s", steps });
      await run.answer(await run.asked(1), "answer-one");
      const asked = await run.asked(2);
      await run.shows("question.parked", asked);
      await run.answer(asked, "allow");
      writeFileSync(gate, "");
      const { epoch } = await run.completed();
      expect({ starts: epoch, lines: linesIn(run), asked: (await run.questions()).length }).toEqual({
        starts: 2,
        lines: 1,
        asked: 2,
      });
      expect(stage.timesTold("answer-one")).toBe(1);
    }));

  test("that is refused while the run is parked is told, and the tool never runs", () =>
    onStage(async (stage) => {
      const steps = [untilTold("not-on-this-machine", use), { say: "I stop here.", stop: true }, DONE];
      const run = await BackgroundRun.start(stage, { ...options, window: "1s", steps });
      const asked = await run.asked(1);
      await run.parked();
      await run.answer(asked, "deny", { note: "not-on-this-machine" });
      const { epoch } = await run.completed();
      expect({ starts: epoch, lines: linesIn(run), told: stage.timesTold("not-on-this-machine") }).toEqual({
        starts: 2,
        lines: 0,
        told: 1,
      });
    }));
});

describe.concurrent("permission that a script asks for by `askd ask`", () => {
  const ASK = `${ASKD_LINE} ask --kind approval "May I leave a line?"`;

  test("is given while it waits: what follows runs once, in the same start", () =>
    onStage(async (stage) => {
      const run = await BackgroundRun.startScript(stage, `${ASK} --wait && { ${COMMAND}; }\n`);
      await run.answer(await run.asked(1), "approve");
      const { epoch } = await run.completed();
      expect({ starts: epoch, lines: linesIn(run) }).toEqual({ starts: 1, lines: 1 });
    }));

  test("is given while the run is parked: the next start finds it, once", () =>
    onStage(async (stage) => {
      const resumed = `${ASKD_LINE} check $(cat id.txt) && { ${COMMAND}; }; exit 0`;
      const script = `if [ -n "$ASKD_ANSWER_FILE" ]; then ${resumed}; fi\n${ASK} > id.txt\n`;
      const run = await BackgroundRun.startScript(stage, script);
      await run.parked();
      expect(linesIn(run)).toBe(0);
      await run.answer(await run.asked(1), "approve");
      const { epoch } = await run.completed();
      expect({ starts: epoch, lines: linesIn(run) }).toEqual({ starts: 2, lines: 1 });
    }));
});
