import { expect, test } from "vitest";
import { Stage, pause } from "./stage.ts";

const script = (seconds: number) => [
  { say: "I need to know.", call: "ask_human", input: { question: "Redis or Memcached?", timeout_seconds: seconds } },
  { say: "Final: {{result}}" },
];

test("Claude Code over HTTP waits 190 s for a person and gets the answer as the result of its call", async () => {
  const stage = new Stage();
  try {
    const { ended } = await stage.start("claude", "http", script(240));
    const { id } = await stage.waiting();
    await pause(190_000);
    await stage.type("answer", id, "Memcached");
    const { exitCode, output } = await ended;
    expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
    // A headless session leaves the call in the foreground, also after the two minutes of an interactive one.
    expect(output).not.toContain('"task_type":"mcp_task"');
    expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
  } finally {
    await stage.close();
  }
});

test("a call that Claude Code moves into the background is parked when the session ends, and keeps its answer", async () => {
  const stage = new Stage();
  try {
    const env = { CLAUDE_AUTO_BACKGROUND_TASKS: "1", CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "4000" };
    const { ended } = await stage.start("claude", "http", script(60), env);
    const { id } = await stage.waiting();
    const { output } = await ended;
    expect(output).toContain("was moved to the background");
    await stage.type("answer", id, "Memcached");
    const { question } = await (await stage.engine()).read(id);
    expect(question).toMatchObject({ status: "answered", handover: { state: "owed" } });
  } finally {
    await stage.close();
  }
});

test("over stdio the hold ends before Claude Code would move the call into the background", async () => {
  const stage = new Stage();
  try {
    const env = { CLAUDE_AUTO_BACKGROUND_TASKS: "1", CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "20000" };
    const { ended } = await stage.start("claude", "stdio", script(60), env);
    const { output } = await ended;
    expect(output).not.toContain("was moved to the background");
    expect(stage.results().join("\n")).toContain("Stop now");
  } finally {
    await stage.close();
  }
});
