import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AUTOFIX } from "../../src/workflow/starter/autofix.ts";
import { ADA } from "../builders.ts";
import { until } from "../run-dir.ts";
import { said } from "../scene.ts";
import { ISSUE, anAutofixStage } from "../workflow/autofix-stage.ts";
import { claudeEnv } from "./agent.ts";
import { programFile } from "./install.ts";
import { onStage, promptOf } from "./stage.ts";

/** The agent asks, is stopped because nobody answers at once, goes on with the answer, works and reports. */
const SCRIPT = [
  { call: "ask_human", input: { question: "Keep the old total?", options: ["Keep", "Drop"] } },
  { say: "I stop here." },
  { call: "Bash", input: { command: "printf 'fixed with early' > fix.txt", description: "Fixes the cart" } },
  { say: 'Done. {"status": "completed", "summary": "Fixed.", "output": {"fixed": true}}' },
];

const WITH_AGENT = AUTOFIX.replace(
  /tool: apply_code_fix[\s\S]*?defaultApproach }}"/,
  `tool: agent
    input:
      agent: claude
      prompt: ${JSON.stringify(`${promptOf(SCRIPT)} Fix {{ issue.title }} by {{ answer || analysis.defaultApproach }}`)}
      schema: { type: object, required: [fixed], properties: { fixed: { type: boolean } } }
    output: fix`,
);

test(
  "Claude Code fixes what a label is put on, asks on the way, and its work becomes the pull request",
  () =>
    onStage(async (home) => {
      const box = { home: join(home.root, "home"), dir: home.root, modelUrl: await home.startModel() };
      mkdirSync(box.home);
      const stage = await anAutofixStage(WITH_AGENT, {
        agents: { claude: { argv: [programFile("claude"), "--allowedTools", "Bash"] } },
        env: { ...claudeEnv(box), HOME: box.home, LANG: "C.UTF-8", SHELL: "/bin/sh" },
        liveWindowMs: 1_000,
      });
      await stage.approve();
      await stage.label("mika");
      await stage.untilStatus("awaiting_input");
      await until("both were told", () => stage.github.shown().length === 1 && stage.slack.shown().length === 1);
      await stage.github.say("B", "mika", ISSUE);

      await until("the agent asks and has ended", async () => {
        const [, agent] = await stage.runs();
        return agent?.status === "awaiting_input";
      });
      const [told = ""] = home.requests().map(({ line }) => line);
      expect(told).toContain("early");
      const [question] = await stage.engine.listQuestions({ status: "pending", order: "oldest", limit: 1 });
      await stage.engine.answer(question!.id, said("Keep"), ADA);

      const run = await stage.untilStatus("completed");
      const [, agent] = await stage.runs();
      expect(agent).toMatchObject({ status: "completed", parentId: run.id, result: { output: { fixed: true } } });
      expect(home.told()).toContain("Keep");
      const [pull, ...others] = stage.github.pulls.pulls;
      expect(others).toEqual([]);
      expect(stage.git(stage.bare, "show", `${pull?.head}:fix.txt`)).toBe("fixed with early");
      expect((await stage.engine.verify()).problems).toEqual([]);
    }),
  120_000,
);
