import { describe, expect, test } from "vitest";
import { ADA } from "../../test/builders.ts";
import { hookCall, hookInput } from "../../test/hooks.ts";
import { MCP, Scene, said } from "../../test/scene.ts";
import type { AnswerInput } from "../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../core/changes.ts";
import { claudeHook } from "./claude/hook.ts";
import { codexHook } from "./codex/hook.ts";
import { geminiHook } from "./gemini/definition.ts";
import { type HookCall, type HookClient, type HookReply, replyTo, replyUnanswered } from "../core/door/hook.ts";

const QUESTION = "claude-2.1.325-question";
const FORM = "claude-2.1.325-form";

async function asked(call: HookCall, over: Record<string, unknown> = {}) {
  const scene = new Scene();
  return { scene, read: await scene.ask({ ...call.ask, ...over, question: call.ask["question"] }, MCP) };
}

async function answeredTo(call: HookCall, answer: string, over: Partial<AnswerInput> = {}): Promise<QuestionSnapshot> {
  const { scene, read } = await asked(call, call.ask["items"] || call.ask["questions"] ? { options: undefined } : {});
  return scene.engine.answer(read.question.id, said(answer, over), ADA);
}

function output(client: HookClient, call: HookCall, read: QuestionSnapshot): unknown {
  return client.say(call, replyTo(call, read), "answer-x");
}

describe("Claude Code", () => {
  test("names its question by session and call, in the words of the model", () => {
    expect(hookCall(claudeHook, QUESTION)).toMatchObject({
      is: "question",
      session: "5529c150-6b05-4e4a-a38f-bbb353c07d4f",
      dir: "/repo",
      isSubagent: false,
      key: "5529c150-6b05-4e4a-a38f-bbb353c07d4f:toolu_mwijkq2y0000",
      ask: { questions: [{ question: "Which cache?", multiSelect: false }] },
    });
    expect(hookCall(claudeHook, QUESTION, { agent_id: "a1" }).isSubagent).toBe(true);
    expect(claudeHook.parse(hookInput("claude-2.1.325-answered"))).toEqual({
      is: "over",
      session: "5529c150-6b05-4e4a-a38f-bbb353c07d4f",
      key: "5529c150-6b05-4e4a-a38f-bbb353c07d4f:toolu_mwijkq2y0000",
    });
    expect(claudeHook.parse(hookInput("claude-2.1.325-session-end"))).toEqual({ is: "other" });
    expect(claudeHook.parse(hookInput(QUESTION, { tool_name: "mcp__askd__ask_human" }))).toEqual({ is: "other" });
  });

  test("gets a choice as its own label, with who answered beside it", async () => {
    const call = hookCall(claudeHook, QUESTION);
    expect(output(claudeHook, call, await answeredTo(call, "redis", { note: "db 3" }))).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: {
          questions: call.ask["questions"],
          answers: { "Which cache?": "Redis (Recommended)" },
          annotations: { "Which cache?": { notes: "db 3" } },
        },
        additionalContext: expect.stringMatching(
          /^Question q_\w+: A person answered your question\. Answered by ada \(cli\) at .* UTC\. Recorded as a_\w+\.$/,
        ),
      },
    });
  });

  test("is told the answer beside its call as well where its version may lose the result", async () => {
    const call = hookCall(claudeHook, QUESTION);
    const reply = replyTo(call, await answeredTo(call, "redis", { note: "db 3" }));
    expect(claudeHook.say(call, { ...reply, isResultLost: true } as HookReply, "answer-x")).toMatchObject({
      hookSpecificOutput: {
        additionalContext: expect.stringMatching(/told this already[^]*Redis[^]*db 3[^]*Recorded as a_/),
      },
    });
    const mayLose = (env: Record<string, string>) => claudeHook.mayLoseResult?.(env);
    expect(mayLose({ ASKD_AGENT_VERSION: "2.1.110" })).toBe(true);
    expect(mayLose({ ASKD_AGENT_VERSION: "2.1.89" })).toBe(false);
    expect(mayLose({ AI_AGENT: "claude-code_2-1-325_harness", ASKD_AGENT_VERSION: "2.1.110" })).toBe(false);
    expect(mayLose({})).toBe(true); // a session that somebody else started, of an old version
  });

  test.each([
    ["free text", "neither", {}, "neither"],
    [
      "that it may decide",
      "",
      { outcome: "decide" },
      "You decide: choose yourself, and record what you chose and why.",
    ],
    [
      "a question back",
      "",
      { outcome: "clarify", note: "Why?" },
      'They ask back: "Why?" Explain that, then ask again.',
    ],
  ] as const)("gets %s as an answer in words", async (_, text, over, expected) => {
    const call = hookCall(claudeHook, QUESTION);
    expect(output(claudeHook, call, await answeredTo(call, text, over))).toMatchObject({
      hookSpecificOutput: { updatedInput: { answers: { "Which cache?": expected } } },
    });
  });

  test("is told what silence means: by a declared policy, by a deadline, by a cancel", async () => {
    const call = hookCall(claudeHook, QUESTION);
    const proceed = await asked(call, { options: undefined, on_timeout: "proceed", timeout: "3m" });
    await proceed.scene.pass(180_000);
    expect(output(claudeHook, call, await proceed.scene.engine.read(proceed.read.question.id))).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: "allow",
        updatedInput: { answers: {} },
        additionalContext: expect.stringContaining("No response received within 3 minutes — proceed using"),
      },
    });
    const failed = await asked(call, { options: undefined, on_timeout: "fail", timeout: "3m" });
    await failed.scene.pass(180_000);
    expect(output(claudeHook, call, await failed.scene.engine.read(failed.read.question.id))).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: "deny",
        permissionDecisionReason: expect.stringContaining('Policy "fail" applies: stop this task.'),
      },
    });
    const { scene, read } = await asked(call, { options: undefined });
    const cancelled = await scene.engine.cancel(read.question.id, { reason: "not needed" }, ADA);
    expect(output(claudeHook, call, cancelled)).toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: expect.stringContaining('cancelled (reason: "not needed")') },
    });
  });

  test("may use a tool only if a person allowed exactly these arguments", async () => {
    const over = { tool_name: "Bash", tool_input: { command: "make clean", timeout: 5 } };
    const call = hookCall(claudeHook, QUESTION, over);
    const allowed = await answeredTo(call, "allow");
    expect(output(claudeHook, call, allowed)).toMatchObject({
      hookSpecificOutput: { permissionDecision: "allow" },
    });
    const same = hookCall(claudeHook, QUESTION, { ...over, tool_input: { timeout: 5, command: "make clean" } });
    expect(replyTo(same, allowed).do).toBe("give");
    const other = hookCall(claudeHook, QUESTION, { ...over, tool_input: { command: "make all", timeout: 5 } });
    expect(replyTo(other, allowed).do).toBe("deny");
    expect(replyTo(call, await answeredTo(call, "deny", { note: "never" }))).toEqual({
      do: "deny",
      why: expect.stringMatching(/^Not allowed by ada \(q_\w+\): "never"\./),
    });
    expect(replyTo(call, await answeredTo(call, "", { outcome: "clarify", note: "Why?" })).do).toBe("deny");
  });

  test("fills in the form of a server with values of the right types", async () => {
    const call = hookCall(claudeHook, FORM);
    const read = await answeredTo(call, "color: blue\ncount: 3\nsure: yes");
    expect(output(claudeHook, call, read)).toEqual({
      hookSpecificOutput: {
        hookEventName: "Elicitation",
        action: "accept",
        content: { color: "blue", count: 3, sure: true },
      },
    });
    const { scene, read: open } = await asked(call, { options: undefined });
    const cancelled = await scene.engine.cancel(open.question.id, {}, ADA);
    expect(output(claudeHook, call, cancelled)).toMatchObject({ hookSpecificOutput: { action: "decline" } });
  });

  test("is headless only where it says so, and attended only where it says that", () => {
    const headless = { CLAUDE_CODE_SESSION_ATTENDED: "0", CLAUDE_CODE_ENTRYPOINT: "sdk-cli", CLAUDE_PID: "42" };
    expect(claudeHook.seat(headless)).toEqual({ isAttended: false, isHeadless: true, pid: 42 });
    expect(claudeHook.seat({ ...headless, CLAUDE_CODE_ENTRYPOINT: "cli" })).toMatchObject({ isHeadless: false });
    expect(claudeHook.seat({ CLAUDE_CODE_SESSION_ATTENDED: "1" })).toEqual({ isAttended: true, isHeadless: false });
    expect(claudeHook.seat({})).toEqual({ isHeadless: false });
  });
});

describe("Gemini and Codex", () => {
  test.each([
    [geminiHook, "gemini-0.61.0-question", "blue", "decision", "reason"],
    [codexHook, "codex-0.166.0-question", "memcached", "permissionDecision", "permissionDecisionReason"],
  ] as const)("get the answer in the reason of a refusal", async (client, name, answer, decision, reason) => {
    const call = hookCall(client, name);
    const said = client.say(call, replyTo(call, await answeredTo(call, answer)), "answer-x");
    const output = JSON.parse(JSON.stringify(said)) as { hookSpecificOutput?: Record<string, string> };
    const fields = output.hookSpecificOutput ?? output;
    expect(fields).toMatchObject({ [decision]: "deny" });
    expect(fields).toMatchObject({ [reason]: expect.stringMatching(/<answer-x>\n(blue|Memcached)\n<\/answer-x>/) });
  });

  test("are stopped or told to stop when nobody answers", async () => {
    const gemini = hookCall(geminiHook, "gemini-0.61.0-question");
    const { scene } = await asked(gemini);
    const run = await scene.startedRun();
    const read = await scene.engine.ask(scene.input(), ADA, { runId: run.id });
    const parked = replyUnanswered(gemini, read, { park: true, isAttended: undefined });
    expect(geminiHook.say(gemini, parked, "")).toEqual({
      continue: false,
      stopReason: expect.stringContaining("You will be resumed with the answer."),
    });
    const codex = hookCall(codexHook, "codex-0.166.0-question");
    const told = replyUnanswered(codex, read, { park: codexHook.mayPark, isAttended: undefined });
    expect(codexHook.say(codex, told, "")).toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: expect.stringContaining("Stop now") },
    });
  });

  test("ask for leave for every other tool", () => {
    const over = { tool_name: "run_shell_command", tool_input: { command: "ls" }, mcp_context: undefined };
    expect(hookCall(geminiHook, "gemini-0.61.0-question", over).is).toBe("approval");
    expect(hookCall(codexHook, "codex-0.166.0-question", over).is).toBe("approval");
  });
});

describe("nobody answered in time", () => {
  const can = { park: true, isAttended: false };

  test("a resume is promised only where somebody does it", async () => {
    const call = hookCall(claudeHook, QUESTION);
    const { read } = await asked(call, { options: undefined });
    const told = replyUnanswered(call, read, { ...can, isAttended: undefined });
    expect(told).toMatchObject({ do: "deny", why: expect.stringContaining("do the same again in a later turn") });
    expect(JSON.stringify(told)).not.toContain("resumed");
    expect(replyUnanswered(call, { ...read, run: { ...read.run, giveBack: "worker" } }, can).do).toBe("park");
  });

  test("whoever sits there is asked by the agent itself, but gives no leave like that", async () => {
    const call = hookCall(claudeHook, QUESTION);
    const { read } = await asked(call, { options: undefined });
    expect(replyUnanswered(call, read, { ...can, isAttended: true }).do).toBe("pass");
    expect(replyUnanswered({ ...call, is: "approval" }, read, { ...can, isAttended: true }).do).toBe("deny");
  });

  test("a subagent is never parked", async () => {
    const call = hookCall(claudeHook, QUESTION, { agent_id: "a1" });
    const { read } = await asked(call, { options: undefined });
    expect(replyUnanswered(call, { ...read, run: { ...read.run, giveBack: "worker" } }, can)).toMatchObject({
      do: "deny",
      why: expect.stringContaining(`Call check_answer ${read.question.id} (it holds)`),
    });
  });
});

test("what cannot be read is refused in words", () => {
  for (const client of [claudeHook, geminiHook, codexHook]) {
    for (const raw of [undefined, null, 7, [], {}, { hook_event_name: "PreToolUse", session_id: "s" }]) {
      expect(() => client.parse(raw)).not.toThrow(TypeError);
    }
  }
  expect(() => claudeHook.parse(hookInput(QUESTION, { tool_input: { questions: [] } }))).toThrow("cannot be read");
  const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)]);
  expect(() => claudeHook.parse(hookInput(QUESTION, { tool_name: "Bash", tool_input: deep(100) }))).toThrow("nested");
});
