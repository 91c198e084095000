import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isPending } from "../../src/core/question/question.ts";
import { ASKD_LINE, addCodexHook, addGeminiHook } from "./agent.ts";
import { BackgroundRun, type RunOptions } from "./background-run.ts";
import { onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

const EVICTION = "Which eviction?";
const OPTIONS = ["TTL", "LRU"].map((label) => ({ label, description: label }));

const FIRST = { call: "ask_human", input: { question: "Which cache?", timeout_seconds: 60 } };

/**
 * An agent and its way to ask. Its end is put off until the gate is there, where the model can do that; an agent that
 * ends without its model is frozen instead.
 */
interface Case extends Pick<RunOptions, "program" | "env" | "flags" | "configure"> {
  first?: object;
  ask(gate: string): object[];
  /** The name of the agent's process. */
  frozen?: string;
  /** The door, where our tools could bring the same question. */
  via?: string;
}

const stopAt = (gate: string): object => ({ say: "I stop here.", stop: true, after: gate });

const byTool = (gate: string): object[] => [
  { call: "ask_human", input: { question: EVICTION, timeout_seconds: 1 } },
  stopAt(gate),
];

const inShell = { claude: "Bash", codex: "exec_command", gemini: "run_shell_command", opencode: "bash" };

/** Both questions by our command in the agent's shell, as a person's instructions would have it. */
function byCommand(program: keyof typeof inShell): Pick<Case, "first" | "ask"> {
  const run = (line: string): object => {
    const words = { command: line, description: "asks" };
    return { call: inShell[program], input: program === "codex" ? { cmd: line, yield_time_ms: 30_000 } : words };
  };
  return {
    first: run(`${ASKD_LINE} ask "Which cache?" --wait`),
    ask: (gate) => [run(`${ASKD_LINE} ask "${EVICTION}" && echo "Stop now."`), stopAt(gate)],
  };
}

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

/** A result that asks stands at the end: its agent has nothing left to do then. */
const byResult = (): object[] => [{ say: JSON.stringify({ status: "needs_input", question: EVICTION }) }];

const byOwnTool =
  (call: string) =>
  (gate: string): object[] => {
    const question = { id: "eviction", header: "Eviction", question: EVICTION, multiSelect: false, options: OPTIONS };
    return [{ call, input: { questions: [question] } }, stopAt(gate)];
  };

const CASES: Record<string, Case> = {
  "opencode, by ask_human": { program: "opencode", ask: byTool },
  "opencode, by a marker": { program: "opencode", ask: byMarkerBeforeTool },
  "opencode, by `askd ask`": { program: "opencode", ...byCommand("opencode") },
  "opencode, by its server": {
    program: "opencode",
    ask: byOwnTool("question"),
    env: { ASKD_OPENCODE: "serve" },
    frozen: "opencode",
  },
  "gemini, by ask_human": { program: "gemini", ask: byTool },
  "gemini, by a marker": { program: "gemini", ask: byMarker },
  "gemini, by `askd ask`": { program: "gemini", ...byCommand("gemini"), flags: ["--yolo"] },
  "gemini, by its hook": { program: "gemini", ask: byTool, configure: addGeminiHook, frozen: "node", via: "hook" },
  "claude, by ask_human": { program: "claude", ask: byTool },
  "claude, by a marker": { program: "claude", ask: byMarker },
  "claude, by its result": { program: "claude", ask: byResult },
  "claude, by `askd ask`": { program: "claude", ...byCommand("claude"), flags: ["--allowedTools", "Bash"] },
  "claude, by AskUserQuestion and its hook": { program: "claude", ask: byOwnTool("AskUserQuestion"), frozen: "claude" },
  "codex, by ask_human": { program: "codex", ask: byTool },
  "codex, by a marker": { program: "codex", ask: byMarker },
  "codex, by its result": { program: "codex", ask: byResult },
  "codex, by `askd ask`": {
    program: "codex",
    ...byCommand("codex"),
    flags: ["--dangerously-bypass-approvals-and-sandbox"],
  },
  "codex, by its hook": {
    program: "codex",
    ask: byOwnTool("request_user_input"),
    configure: addCodexHook,
    flags: ["--dangerously-bypass-hook-trust", "--enable", "default_mode_request_user_input"],
  },
  "codex, by its app-server": {
    program: "codex",
    ask: byOwnTool("request_user_input"),
    env: { ASKD_CODEX: "app-server" },
    frozen: "codex",
  },
};

test.concurrent.for(Object.entries(CASES))(
  "a second question that is answered before its agent has ended is told once: %s",
  ([, { ask, first = FIRST, frozen, via, ...options }]) =>
    onStage(async (stage) => {
      const gate = join(stage.root, "gate");
      const [second = {}, ...stop] = ask(gate);
      const steps = [untilTold("answer-one", first), untilTold("answer-two", second), ...stop, { say: "Done." }];
      const run = await BackgroundRun.start(stage, { ...options, window: "1s", steps });
      await run.answer(await run.asked(1), "answer-one");
      const asked = await run.asked(2);
      expect(asked.via).toBe(via ?? asked.via);
      const goOn = frozen === undefined ? undefined : await run.freeze(frozen);
      // A marker is parked as it is asked.
      if (isPending(asked) && asked.hold) await run.shows("question.parked", asked);
      await run.answer(asked, "answer-two");
      writeFileSync(gate, "");
      goOn?.();
      const { epoch } = await run.completed();
      expect({ one: stage.timesTold("answer-one"), two: stage.timesTold("answer-two"), starts: epoch }).toEqual({
        one: 1,
        two: 1,
        starts: 2,
      });
    }),
);

/** Markers and results are parked as they are asked. */
const LIVE = Object.entries(CASES).filter(([name]) => !/marker|result/.test(name));

test.concurrent.for(LIVE)(
  "a question that is answered while its agent waits is told once, in the same start: %s",
  ([, live]) =>
    onStage(async (stage) => {
      const { ask, first, via, frozen: _frozen, ...options } = live;
      const [question = {}] = ask(join(stage.root, "gate"));
      const asked = first ?? { ...question, ...("input" in question && { input: withoutTimeout(question.input) }) };
      const steps = [untilTold("answer-one", asked), { say: "Done." }];
      const run = await BackgroundRun.start(stage, { ...options, window: "40s", steps });
      const waiting = await run.asked(1);
      expect(waiting.via).toBe(via ?? waiting.via);
      await run.answer(waiting, "answer-one");
      const { epoch } = await run.completed();
      expect({ told: stage.timesTold("answer-one"), starts: epoch }).toEqual({ told: 1, starts: 1 });
    }),
);

test.concurrent.for(LIVE)(
  "a question that is withdrawn while its agent waits is told once, in the same start: %s",
  ([, live]) =>
    onStage(async (stage) => {
      const { ask, first, via: _via, frozen: _frozen, ...options } = live;
      const [question = {}] = ask(join(stage.root, "gate"));
      const asked = first ?? { ...question, ...("input" in question && { input: withoutTimeout(question.input) }) };
      const run = await BackgroundRun.start(stage, { ...options, window: "40s", steps: [asked, { say: "Done." }] });
      await run.withdraw(await run.asked(1), "take-the-cheaper-one");
      const { epoch } = await run.completed();
      expect({ told: stage.timesTold("take-the-cheaper-one"), starts: epoch }).toEqual({ told: 1, starts: 1 });
      expect(await run.questions()).toMatchObject([{ status: "cancelled", handover: { state: "given" } }]);
    }),
);

function withoutTimeout(input: unknown): object {
  return { ...(input as object), timeout_seconds: undefined };
}

/** What the script says it was told by its answer file, and what it was told as something that it may know. */
function toldTo(run: BackgroundRun): string[] {
  const file = join(run.dir, "told.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

test.concurrent("a second question that is answered before its agent has ended is told once: command, by a marker", () =>
  onStage(async (stage) => {
    const gates = [1, 2].map((nth) => join(stage.root, `gate-${nth}`));
    const run = await BackgroundRun.startScript(
      stage,
      `trap "" TERM
[ -n "$ASKD_ANSWER_FILE" ] && grep -ohE "^answer-(one|two)$" "$ASKD_ANSWER_FILE" >> told.txt
nth=$(cat told.txt 2>/dev/null | wc -l)
[ "$nth" -ge 2 ] && exit 0
echo "<<ASK_HUMAN>> {\\"question\\": \\"Question $nth?\\"} <</ASK_HUMAN>>"
while [ ! -e ${stage.root}/gate-$((nth + 1)) ]; do sleep 0.1; done
`,
    );
    for (const [index, answer] of ["answer-one", "answer-two"].entries()) {
      await run.answer(await run.asked(index + 1), answer);
      writeFileSync(gates[index] ?? "", "");
    }
    const { epoch } = await run.completed();
    expect({ told: toldTo(run), starts: epoch }).toEqual({ told: ["answer-one", "answer-two"], starts: 3 });
  }));

test.concurrent("a second question that is answered before its agent has ended is told once: command, by `askd ask`", () =>
  onStage(async (stage) => {
    const gate = join(stage.root, "gate");
    const run = await BackgroundRun.startScript(
      stage,
      `if [ -n "$ASKD_ANSWER_FILE" ]; then
  cat "$ASKD_ANSWER_FILE" > message.txt
  grep -ohE "^answer-two$" "$ASKD_ANSWER_FILE" >> told.txt
  exit 0
fi
${ASKD_LINE} ask "Which cache?" --wait >> told.txt
${ASKD_LINE} ask "${EVICTION}"
while [ ! -e ${gate} ]; do sleep 0.1; done
`,
    );
    await run.answer(await run.asked(1), "answer-one");
    await run.answer(await run.asked(2), "answer-two");
    writeFileSync(gate, "");
    const { epoch } = await run.completed();
    expect({ told: toldTo(run), starts: epoch }).toEqual({ told: ["answer-one", "answer-two"], starts: 2 });
    // A program without a memory of its own is reminded of the first, as something that it may know.
    expect(readFileSync(join(run.dir, "message.txt"), "utf8")).toMatch(/answer-one/);
  }));
