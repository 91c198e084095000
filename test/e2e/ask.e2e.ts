import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ProgramName, PROGRAMS } from "./install.ts";
import { Stage } from "./stage.ts";

const QUESTION = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const script = (input: object) => [{ say: "I need to know.", call: "ask_human", input }, { say: "Final: {{result}}" }];

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

describe.each(Object.keys(PROGRAMS) as ProgramName[])("%s", (program) => {
  test.each(["stdio", "http"] as const)(
    "asks over %s and goes on with what a person answered meanwhile",
    async (way) => {
      const { ended } = await stage.start(program, way, script(QUESTION));
      const { id } = await stage.waiting();
      await stage.type("answer", id, "Memcached");
      const { exitCode, output } = await ended;
      expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
      expect(stage.results().join("\n")).toContain("A person answered your question.");
      expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
      const { question, run } = await (await stage.engine()).read(id);
      expect(run).toMatchObject({ agent: program, giveBack: "poll" });
      expect(question).toMatchObject({ status: "answered", handover: { state: "given" } });
    },
  );

  test("is told to stop when nobody answers, ends, and its question can still be answered", async () => {
    const { ended } = await stage.start(program, "stdio", script({ ...QUESTION, timeout_seconds: 1 }));
    const { exitCode, output } = await ended;
    expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
    const { id } = await stage.waiting();
    expect(stage.results().join("\n")).toContain(`later call check_answer with ${id}`);
    await stage.type("answer", id, "Redis");
    expect(JSON.parse(await stage.type("check", id, "--json"))).toMatchObject({ status: "answered", answer: "Redis" });
  });
});
