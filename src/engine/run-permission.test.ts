import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { approvalAsk } from "../core/question/approval.ts";
import { findAnswer } from "../core/question/question.ts";
import { replyTo } from "../core/door/hook.ts";
import { claudeHook } from "../agents/claude/hook.ts";
import type { RunId } from "../core/id.ts";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";

const BOB = { ...ADA, id: "bob" };
const HOOK = { via: "hook", holdMs: 60_000 };
let scene: Scene;
let runId: RunId;
let calls = 0;

beforeEach(async () => {
  scene = new Scene();
  runId = (await scene.startedRun()).id;
  await scene.know("ada", "bob");
});

function bash(command: string, over: Record<string, unknown> = {}) {
  return { tool: "Bash", input: { command, ...over } };
}

/** Asks for a tool use in the run, as a hook does. */
function use(
  tool: { tool: string; input: unknown; takesChange?: boolean },
  over: Record<string, unknown> = {},
  run: RunId = runId,
) {
  calls += 1;
  const input = scene.input({ ...approvalAsk(tool), key: `call-${calls}`, ...over }, HOOK);
  return scene.engine.ask(input, AGENT, { runId: run });
}

async function finish({ question }: { question: { id: Parameters<Scene["engine"]["given"]>[0] } }) {
  await scene.engine.handOver(question.id);
  await scene.engine.given(question.id, "hook");
}

describe("allow for the rest of this run", () => {
  test("allows the same command again without asking, and the trail names the answer that allowed it", async () => {
    const first = await use(bash("npm test", { description: "Run tests" }));
    expect(first.content.items[0]?.options.map(({ value }) => value)).toEqual([
      "allow",
      "deny",
      "allow-run",
      "allow-prefix",
    ]);
    const done = await scene.engine.answer(first.question.id, said("allow-run"), ADA);
    const given = findAnswer(done.question)?.id;
    await finish(first);
    const again = await use(bash("npm test", { description: "Again", timeout: 1000 }));
    expect(again.question).toMatchObject({ status: "answered", answer: { policy: "allow-run", allowedBy: given } });
    const events = await scene.engine.readChain(runId);
    const answered = events.filter(({ event }) => event.questionId === again.question.id);
    expect(answered.map(({ event }) => event.type)).toContain("question.answered");
    expect(JSON.stringify(answered)).toContain(`"allowed_by":"${given}"`);
    const call = { is: "approval" as const, ...bash("npm test", { description: "Again", timeout: 1000 }) };
    const hooked = { ...call, event: "PreToolUse", session: "s", dir: undefined, key: "k" };
    const reply = replyTo({ ...hooked, isSubagent: false, ask: {}, door: {} }, again);
    expect(reply.do).toBe("give");
  });

  test("holds after a resume, and in no other run", async () => {
    const first = await use(bash("npm test"));
    await scene.engine.endHold(first.question.id, "window");
    await scene.engine.endRun(runId, { status: "completed" }, AGENT);
    await scene.engine.answer(first.question.id, said("allow-run"), ADA);
    const resumed = await scene.engine.startRun(runId, AGENT);
    expect(resumed.epoch).toBe(2);
    const other = (await scene.startedRun({ name: "other" })).id;
    expect((await use(bash("npm test"), {}, other)).question.status).toBe("pending");
    await finish(first);
    expect((await use(bash("npm test"))).question.status).toBe("answered");
  });

  test("allows nothing else: other arguments, other tools, more words", async () => {
    const first = await use(bash("npm test"));
    await scene.engine.answer(first.question.id, said("allow-run"), ADA);
    await finish(first);
    for (const other of [
      bash("npm test -- x"),
      bash("npm test", { dangerouslyDisableSandbox: true }),
      { tool: "mcp__x__run", input: { command: "npm test" } },
    ]) {
      const asked = await use(other);
      expect(asked.question.status).toBe("pending");
      await scene.engine.answer(asked.question.id, said("deny"), ADA);
      await finish(asked);
    }
  });

  test("with a prefix allows commands that begin with these words, and never one with shell operators", async () => {
    const first = await use(bash("npm test -- src/a.test.ts"));
    const option = first.content.items[0]?.options.find(({ value }) => value === "allow-prefix");
    expect(option?.label).toContain('"npm test"');
    await scene.engine.answer(first.question.id, said("allow-prefix"), ADA);
    await finish(first);
    expect((await use(bash("npm test -- src/b.test.ts"))).question.status).toBe("answered");
    const word = fc.stringMatching(/^[a-z0-9./=_-]{1,8}$/);
    const sign = fc.constantFrom(";", "&&", "&", "|", "||", "$(", "`", "\n", "\r", ">", ">>", "<", "<(", "${", "\\");
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 3 }), sign, word, async (words, operator, last) => {
        const rest = [...words, operator + last].join(" ");
        const asked = await use(bash(`npm test ${rest}`));
        expect(asked.question.status).toBe("pending");
        await scene.engine.answer(asked.question.id, said("deny"), ADA);
        await finish(asked);
      }),
      { numRuns: 60 },
    );
    for (const command of ["npm tests", "npm test-all", 'npm test"s"', "npm  test", " npm test", "npm"]) {
      const asked = await use(bash(command));
      expect([command, asked.question.status]).toEqual([command, "pending"]);
      await scene.engine.answer(asked.question.id, said("deny"), ADA);
      await finish(asked);
    }
  });

  test("offers no prefix that would allow any program, and none for a command with operators", async () => {
    for (const command of [
      "ls",
      "sudo npm test",
      "bash build",
      "python manage.py",
      "npm test | tee x",
      "x=1 npm test",
    ]) {
      const asked = await use(bash(command));
      const values = asked.content.items[0]?.options.map(({ value }) => value);
      expect([command, values]).toEqual([command, expect.not.arrayContaining(["allow-prefix"])]);
      await scene.engine.answer(asked.question.id, said("deny"), ADA);
      await finish(asked);
    }
  });

  test("is never offered at high risk, refused there, and allows no later command of high risk", async () => {
    const risky = await use(bash("git push --force"));
    expect(risky.content.items[0]?.options.map(({ value }) => value)).toEqual(["allow", "deny"]);
    await scene.engine.answer(risky.question.id, said("deny"), ADA);
    await finish(risky);
    const declared = await use(bash("npm test"), { risk: "high" });
    expect(declared.content.items[0]?.options.map(({ value }) => value)).toEqual(["allow", "deny"]);
    await scene.engine.answer(declared.question.id, said("deny"), ADA);
    await finish(declared);
    const first = await use(bash("git push origin"));
    await scene.engine.answer(first.question.id, said("allow-prefix"), ADA);
    await finish(first);
    expect((await use(bash("git push origin --force"))).question.status).toBe("pending");
  });

  test("takes as many votes as the question, and holds only for questions that need no more", async () => {
    const two = { approvals: { need: 2 } };
    const first = await use(bash("npm test"), two);
    await scene.engine.answer(first.question.id, said("allow"), ADA);
    const split = await scene.engine.answer(first.question.id, said("allow-run"), BOB);
    expect(split.question.status).toBe("pending");
    await scene.engine.answer(first.question.id, said("allow-run"), ADA);
    await finish(first);
    expect((await use(bash("npm test"), two)).question.status).toBe("answered");
    const stricter = await use(bash("npm test"), { approvals: { need: 3 } });
    expect(stricter.question.status).toBe("pending");
  });

  test("does not count against the number of questions a run may ask", async () => {
    scene = new Scene({ rules: { limits: { ...scene.rules.limits, asksPerRun: 3, asksPerMinute: 3 } } });
    runId = (await scene.startedRun()).id;
    const first = await use(bash("npm test"));
    await scene.engine.answer(first.question.id, said("allow-run"), ADA);
    await finish(first);
    for (let count = 0; count < 6; count += 1) {
      const asked = await use(bash("npm test"));
      expect(asked.question.status).toBe("answered");
      await finish(asked);
    }
    expect((await use(bash("npm run x"))).question.status).toBe("pending");
  });
});

describe("allow with a change", () => {
  const CHANGE = { items: { 1: { values: ["allow-changed"], text: "npm test -- --run" } }, answer: undefined };

  test("gives Claude Code the changed command, and says so", async () => {
    const asked = await use({ ...bash("npm test", { description: "Run" }), takesChange: true });
    expect(asked.content.items[0]).toMatchObject({ change: "npm test" });
    const done = await scene.engine.answer(asked.question.id, said("", CHANGE), ADA);
    const parsed = claudeHook.parse({
      hook_event_name: "PreToolUse",
      session_id: "s",
      tool_name: "Bash",
      tool_use_id: "t",
      tool_input: { command: "npm test", description: "Run" },
    });
    if (parsed.is !== "call") throw new Error("no call");
    expect(parsed.call.ask).toMatchObject({ tool: { takes_change: true } });
    const out = claudeHook.say(parsed.call, replyTo(parsed.call, done), "x");
    expect(out).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: "allow",
        updatedInput: { command: "npm test -- --run", description: "Run" },
        additionalContext: expect.stringContaining("npm test -- --run"),
      },
    });
  });

  test("is refused with the reason where the agent cannot take one", async () => {
    const asked = await use(bash("npm test"));
    await expect(scene.engine.answer(asked.question.id, said("", CHANGE), ADA)).rejects.toMatchObject({
      code: "no_such_option",
      message: expect.stringContaining("cannot take a changed command"),
    });
  });

  test("needs a command, and confirmation where the changed one is of high risk", async () => {
    const asked = await use({ ...bash("npm test"), takesChange: true });
    const { id } = asked.question;
    await expect(scene.engine.answer(id, said("allow-changed"), ADA)).rejects.toMatchObject({ code: "empty_answer" });
    const grave = { answer: undefined, items: { 1: { values: ["allow-changed"], text: "rm -rf /" } } };
    await expect(scene.engine.answer(id, said("", grave), ADA)).rejects.toMatchObject({ code: "needs_confirmation" });
    const done = await scene.engine.answer(id, said("", { ...grave, confirmed: true }), ADA);
    expect(done.question.status).toBe("answered");
  });

  test("takes votes for the same command only", async () => {
    const asked = await use({ ...bash("npm test"), takesChange: true }, { approvals: { need: 2 } });
    const { id } = asked.question;
    await scene.engine.answer(id, said("", CHANGE), ADA);
    const other = { answer: undefined, items: { 1: { values: ["allow-changed"], text: "npm run lint" } } };
    expect((await scene.engine.answer(id, said("", other), BOB)).question.status).toBe("pending");
    expect((await scene.engine.answer(id, said("", CHANGE), BOB)).question.status).toBe("answered");
  });
});
