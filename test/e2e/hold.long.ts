import { expect, test } from "vitest";
import { Stage, pause } from "./stage.ts";

const SILENT_MS = 190_000;
const STEPS = [
  { say: "I need to know.", call: "ask_human", input: { question: "Redis or Memcached?", timeout_seconds: 240 } },
  { say: "Final: {{result}}" },
];

test.concurrent.each([
  ["as it is", {}],
  [
    "with the automatic background after two minutes named explicitly",
    { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "120000" },
  ],
])(
  "Claude Code over HTTP %s waits 190 s for a person and gets the answer as the result of its call",
  async (_, env) => {
    const stage = new Stage();
    try {
      const startedAt = Date.now();
      const { ended } = await stage.start("claude", "http", STEPS, env);
      const { id } = await stage.waiting();
      await pause(SILENT_MS);
      await stage.type("answer", id, "Memcached");
      const { exitCode, output } = await ended;
      expect(exitCode, output).toBe(0);
      process.stderr.write(
        `the agent ended after ${Math.round((Date.now() - startedAt) / 1000)} s\n${output.slice(-6000)}\n`,
      );
      expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
    } finally {
      await stage.close();
    }
  },
);
