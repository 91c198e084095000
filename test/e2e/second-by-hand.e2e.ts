import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isPending } from "../../src/core/question/question.ts";
import { ADA } from "../builders.ts";
import { said } from "../scene.ts";
import { AGENTS } from "./agent.ts";
import { HandSession } from "./hand-session.ts";
import { PROGRAMS, type ProgramName } from "./install.ts";
import { type Stage, onStage, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

const CASES = (Object.keys(PROGRAMS) as ProgramName[]).flatMap((program) =>
  (["stdio", "http"] as const).map((way) => [program, way] as const),
);
const ask = (question: string, seconds: number) => ({
  call: "ask_human",
  input: { question, timeout_seconds: seconds },
});

async function asked(stage: Stage, nth: number, isHeld: boolean) {
  const engine = await stage.engine();
  return stage.until(`question ${nth} is ${isHeld ? "asked" : "parked"}`, async () => {
    const found = (await engine.listQuestions({ order: "oldest", limit: 9 }))[nth - 1];
    return found && isPending(found) && (isHeld || !found.hold) ? found : undefined;
  });
}

test.concurrent.for(CASES)(
  "a second question that is answered before a session of %s over %s has ended is told once, in the resumed session",
  ([program, way]) =>
    onStage(async (stage) => {
      const engine = await stage.engine();
      const gate = join(stage.root, "gate");
      const door = way === "stdio" ? stage.stdio() : await stage.http();
      const start = (_: Stage, box: Parameters<typeof AGENTS.claude>[0], prompt: string) =>
        AGENTS[program](box, door, prompt);
      const session = new HandSession(stage, { program, start }, "3m");
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
