import { beforeAll, expect, test, vi } from "vitest";
import { BackgroundRun } from "./background-run.ts";
import { installProgram } from "./install.ts";
import { onStage } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** The first version that can put a question off, one that loses its result, and the first that hides its tool. */
const VERSIONS = ["2.1.89", "2.1.110", "2.1.200"];

const QUESTION = {
  question: "Which cache should I use?",
  header: "Cache",
  multiSelect: false,
  options: ["Redis", "Memcached"].map((label) => ({ label, description: label })),
};
/** One turn with two calls: some versions lose the result of the one that was put off. */
const STEPS = [
  {
    calls: [
      { call: "Bash", input: { command: "echo beside", description: "prints" } },
      { call: "AskUserQuestion", input: { questions: [QUESTION] } },
    ],
  },
  { say: "Final: {{history}}" },
];

beforeAll(() => {
  for (const version of VERSIONS) installProgram("claude", version);
}, 300_000);

test.concurrent.for(VERSIONS)("Claude Code %s asks beside another call, is parked and gets the answer", (version) =>
  onStage(async (stage) => {
    const run = await BackgroundRun.start(stage, { program: "claude", version, steps: STEPS, window: "1s" });
    const { lastQuestionId } = await run.parked();
    const asked = await run.asked(1);
    expect(asked.id).toBe(lastQuestionId);
    await run.answer(asked, "Memcached", { note: "keep it small" });
    await run.completed();
    const last = stage.requests().at(-1);
    const told = last?.turns.filter(({ role }) => role === "user").flatMap(({ parts }) => parts) ?? [];
    expect(told.filter(({ text }) => text?.includes("Memcached") && !text.includes("@@mock"))).not.toEqual([]);
    expect(stage.told()).toContain("keep it small");
    const [question] = await run.questions();
    expect(question).toMatchObject({ status: "answered", handover: { state: "given" } });
  }),
);
