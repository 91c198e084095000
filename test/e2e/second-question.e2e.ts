import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isPending } from "../../src/core/question/question.ts";
import { BackgroundRun, type RunOptions } from "./background-run.ts";
import { onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

const EVICTION = "Which eviction?";
const OPTIONS = ["TTL", "LRU"].map((label) => ({ label, description: label }));

const FIRST = { call: "ask_human", input: { question: "Which cache?", timeout_seconds: 60 } };

/** An agent and its way to ask the second time. Its end is put off until the gate is there, where the model can do that. */
interface Case extends Pick<RunOptions, "program" | "env"> {
  ask(gate: string): object[];
}

const byTool = (gate: string): object[] => [
  { call: "ask_human", input: { question: EVICTION, timeout_seconds: 1 } },
  { say: "I stop here.", stop: true, after: gate },
];

const MARKER = `<<ASK_HUMAN>> ${JSON.stringify({ question: EVICTION })} <</ASK_HUMAN>>`;
const byMarker = (gate: string): object[] => [{ say: MARKER, endAfter: gate }];
/** OpenCode prints what its model says when a tool is called, or at the end. */
const byMarkerBeforeTool = (gate: string): object[] => [
  {
    say: MARKER,
    call: "bash",
    input: { command: `while [ ! -e '${gate}' ]; do sleep 0.1; done`, description: "waits" },
  },
];

const byOwnTool = (call: string) => (): object[] => {
  const question = { id: "eviction", header: "Eviction", question: EVICTION, multiSelect: false, options: OPTIONS };
  return [{ call, input: { questions: [question] } }];
};

const CASES: Record<string, Case> = {
  "opencode, by ask_human": { program: "opencode", ask: byTool },
  "opencode, by a marker": { program: "opencode", ask: byMarkerBeforeTool },
  "opencode, by its server": { program: "opencode", ask: byOwnTool("question"), env: { ASKD_OPENCODE: "serve" } },
  "gemini, by ask_human": { program: "gemini", ask: byTool },
  "gemini, by a marker": { program: "gemini", ask: byMarker },
  "claude, by ask_human": { program: "claude", ask: byTool },
  "claude, by a marker": { program: "claude", ask: byMarker },
  "claude, by AskUserQuestion": { program: "claude", ask: byOwnTool("AskUserQuestion") },
  "codex, by ask_human": { program: "codex", ask: byTool },
  "codex, by a marker": { program: "codex", ask: byMarker },
  "codex, by its app-server": {
    program: "codex",
    ask: byOwnTool("request_user_input"),
    env: { ASKD_CODEX: "app-server" },
  },
};

test.concurrent.for(Object.entries(CASES))(
  "a second question that is answered before its agent has ended is told once: %s",
  ([, { ask, ...options }]) =>
    onStage(async (stage) => {
      const gate = join(stage.root, "gate");
      const [second = {}, ...stop] = ask(gate);
      const steps = [untilTold("answer-one", FIRST), untilTold("answer-two", second), ...stop, { say: "Done." }];
      const run = await BackgroundRun.start(stage, { ...options, window: "1s", steps });
      await run.answer(await run.asked(1), "answer-one");
      const asked = await run.asked(2);
      // A marker is parked as it is asked.
      if (isPending(asked) && asked.hold) await run.shows("question.parked", asked);
      await run.answer(asked, "answer-two");
      writeFileSync(gate, "");
      const { epoch } = await run.completed();
      expect({ one: stage.timesTold("answer-one"), two: stage.timesTold("answer-two"), starts: epoch }).toEqual({
        one: 1,
        two: 1,
        starts: 2,
      });
    }),
);
