import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENTS, type Box, type Door, RESUMED, type Start } from "./agent.ts";
import { PROGRAMS, type ProgramName } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const QUESTION = { question: "Redis or Memcached?", options: ["Redis", "Memcached"], timeout_seconds: 1 };
const STEPS = [{ call: "ask_human", input: QUESTION }, { say: "I stop." }];

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** Types a command as the person whose agents these are. */
function type(...args: string[]): Promise<string> {
  const own = { PATH: process.env["PATH"] ?? "", HOME: join(stage.root, "home"), ASKD_HOME: stage.askdHome };
  return stage.typeIn(stage.root, { ...own, ASKD_NO_SERVICE: "1" }, ...args);
}

describe.each(Object.keys(PROGRAMS) as ProgramName[])("a session of %s that a person started", (program) => {
  test.each(["stdio", "http"] as const)(
    "over %s is parked, answered, and resumed by the command that the person is given",
    async (way) => {
      let door: Door | undefined;
      const launch = async (build: (box: Box, door: Door) => Start) => {
        door ??= way === "stdio" ? stage.stdio() : await stage.http();
        const at = door;
        return (await stage.launch((box) => build(box, at))).ended;
      };
      const parked = await launch((box, at) => AGENTS[program](box, at, promptOf(STEPS)));
      expect(parked.exitCode === 0 ? "it ended well" : parked.output).toBe("it ended well");
      const { id } = await stage.waiting();
      const answered = await type("answer", id, "Memcached");
      const [, dir, command = ""] = /Go on in its session: cd (\S+) && (.+)$/m.exec(answered) ?? [];
      expect({ answered, dir }).toEqual({ answered, dir: join(stage.root, "repo") });
      expect(command.split(" ")[0]).toBe(program);
      expect(await type("status")).toContain(`ANSWERED, NOT RESUMED:\n`);
      expect(await type("takeover", "1")).toBe(`cd ${dir} && ${command}\n`);

      const again = promptOf([{ call: "check_answer", input: { question_id: id } }, { say: "Final: {{result}}" }]);
      const resumed = await launch((box, at) => {
        const { argv, env } = AGENTS[program](box, at, again);
        return { argv: RESUMED[program](argv, command.split(" ").slice(1)), env };
      });
      expect(resumed.exitCode === 0 ? "it ended well" : resumed.output).toBe("it ended well");
      // The model was shown what it asked before: it is the same session.
      expect(stage.told()).toContain("I stop.");
      expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
      expect((await (await stage.engine()).read(id)).question).toMatchObject({ handover: { state: "given" } });
      expect(await type("status")).not.toContain("WAITING FOR YOU");
    },
  );
});
