import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isPending } from "../../src/core/question/question.ts";
import { ADA } from "../builders.ts";
import { said } from "../scene.ts";
import { AGENTS, addClaudeHook, addCodexHook, addGeminiHook, startUnwired } from "./agent.ts";
import { type HandDoor, HandSession } from "./hand-session.ts";
import { PROGRAMS, type ProgramName } from "./install.ts";
import { type Stage, onStage, untilTold } from "./stage.ts";

const OPTIONS = ["TTL", "LRU"].map((label) => ({ label, description: label }));

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** A session of a program, and how its model asks there. */
interface Case extends HandDoor {
  ask(question: string, seconds: number): object;
  /** How long a question is held that does not say so itself. */
  window: string;
}

const byTool = (question: string, seconds: number): object => ({
  call: "ask_human",
  input: { question, timeout_seconds: seconds },
});

const byTools = (program: ProgramName, way: "stdio" | "http"): Case => ({
  program,
  start: async (stage, box, prompt) => {
    const door = way === "stdio" ? stage.stdio() : await stage.http();
    return AGENTS[program](box, door, prompt);
  },
  ask: byTool,
  window: "3m",
});

const CASES: Array<[string, string, Case]> = [
  ...(Object.keys(PROGRAMS) as ProgramName[]).flatMap((program) =>
    (["stdio", "http"] as const).map((way): [string, string, Case] => [program, way, byTools(program, way)]),
  ),
  [
    "gemini",
    "its hook",
    {
      program: "gemini",
      start: (stage, box, prompt) => {
        const start = AGENTS.gemini(box, stage.stdio(), prompt);
        addGeminiHook(box);
        return start;
      },
      ask: (question) => ({ call: "ask_human", input: { question } }),
      window: "15s",
    },
  ],
  [
    "codex",
    "its hook",
    {
      program: "codex",
      start: (_, box, prompt) => {
        const { argv, env } = startUnwired("codex", box, prompt);
        addCodexHook(box);
        const flags = ["--dangerously-bypass-hook-trust", "--enable", "default_mode_request_user_input"];
        return { argv: argv.toSpliced(-1, 0, ...flags), env };
      },
      ask: (question) => ({
        call: "request_user_input",
        input: { questions: [{ id: "q", header: "Q", question, options: OPTIONS }] },
      }),
      window: "15s",
    },
  ],
  [
    "claude",
    "its hook, then a worker",
    {
      program: "claude",
      start: (_, box, prompt) => {
        const { argv, env } = startUnwired("claude", box, prompt);
        addClaudeHook(box, "AskUserQuestion");
        return { argv: [...argv, "--permission-prompt-tool", "stdio"], env };
      },
      isResumed: true,
      ask: (question) => ({
        call: "AskUserQuestion",
        input: { questions: [{ question, header: "Q", multiSelect: false, options: OPTIONS }] },
      }),
      window: "15s",
    },
  ],
];

async function asked(stage: Stage, nth: number, isHeld: boolean) {
  const engine = await stage.engine();
  return stage.until(`question ${nth} is ${isHeld ? "asked" : "parked"}`, async () => {
    const found = (await engine.listQuestions({ order: "oldest", limit: 9 }))[nth - 1];
    return found && isPending(found) && (isHeld || !found.hold) ? found : undefined;
  });
}

test.concurrent.for(CASES)(
  "a second question that is answered before a session of %s (%s) has ended is told once, in the resumed session",
  ([, , { ask, window, ...door }]) =>
    onStage(async (stage) => {
      const engine = await stage.engine();
      const gate = join(stage.root, "gate");
      const session = new HandSession(stage, door, window);
      const { ended } = await session.begin([
        untilTold("answer-one", ask("Which cache?", 60)),
        untilTold("answer-two", ask("Which eviction?", 1)),
        { say: "I stop here.", stop: true, after: gate },
        { say: "Done." },
      ]);
      await engine.answer((await asked(stage, 1, true)).id, said("answer-one"), ADA);
      const second = await asked(stage, 2, false);
      await engine.answer(second.id, said("answer-two"), ADA);
      writeFileSync(gate, "");
      await ended;
      expect(stage.timesTold("answer-two")).toBe(0);
      await session.goOn((await engine.read(second.id)).run.number);
      const given = { status: "answered", handover: { state: "given" } };
      expect(await engine.listQuestions({ order: "oldest", limit: 9 })).toMatchObject([given, given]);
      expect({ one: stage.timesTold("answer-one"), two: stage.timesTold("answer-two") }).toEqual({ one: 1, two: 1 });
    }),
);
