import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent, Witnessed } from "./agent.ts";
import { openDatabase } from "../sqlite.ts";
import { claude } from "./claude/claude.ts";
import { codex } from "./codex/codex.ts";
import { command } from "./command/command.ts";
import { gemini } from "./gemini/gemini.ts";
import { opencode } from "./opencode/opencode.ts";

const SESSION = "5e551011-0000-4000-8000-000000000000";
const ANSWER = "a_7f";
const CALL = "toolu_1";
const FILES = {
  claude: `.claude/projects/-repo/${SESSION}.jsonl`,
  codex: `.codex/sessions/2026/11/15/rollout-2026-11-15T10-00-00-${SESSION}.jsonl`,
  gemini: ".gemini/tmp/repo/chats/session-2026-11-15T10-00-5e551011.jsonl",
};
const HEADS = { claude: {}, codex: {}, gemini: { sessionId: SESSION, kind: "main" } };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-witness-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function ask(agent: Agent, env: Record<string, string> = {}): Promise<Witnessed> {
  const evidence = { session: SESSION, dir: "/repo", env: { HOME: home, ...env }, answerId: ANSWER, callId: CALL };
  return agent.witness(evidence);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(home, file)), { recursive: true });
  writeFileSync(join(home, file), text);
}

const toClaude = (content: unknown) => ({ type: "user", message: { role: "user", content } });
const ofCodex = (payload: object) => ({ type: "response_item", payload });
const toCodex = (role: string) =>
  ofCodex({ type: "message", role, content: [{ type: "input_text", text: `x ${ANSWER}` }] });
const result = (fields: object) => ({ type: "tool_result", tool_use_id: CALL, content: "Redis", ...fields });

describe("a record of", () => {
  test.each<[keyof typeof FILES, string, object, Witnessed]>([
    ["claude", "a message with the answer", toClaude(`Recorded as ${ANSWER}.`), "given"],
    ["claude", "a message in parts", toClaude([{ type: "text", text: ANSWER }]), "given"],
    ["claude", "the result of the call", toClaude([result({})]), "given"],
    [
      "claude",
      "a result with the answer",
      toClaude([result({ tool_use_id: "other", content: [{ type: "text", text: ANSWER }] })]),
      "given",
    ],
    ["claude", "an error for the call", toClaude([result({ is_error: true })]), "absent"],
    [
      "claude",
      "a refusal of our hook",
      toClaude([result({ is_error: true, content: `Recorded as ${ANSWER}.` })]),
      "given",
    ],
    ["claude", "the result of another call", toClaude([result({ tool_use_id: "toolu_12" })]), "absent"],
    [
      "claude",
      "the call itself",
      { type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id: CALL }] } },
      "absent",
    ],
    [
      "claude",
      "what the hook printed",
      { type: "attachment", attachment: { type: "hook_success", toolUseID: CALL, stdout: ANSWER } },
      "absent",
    ],
    ["claude", "a prompt in a queue", { type: "queue-operation", operation: "enqueue", content: ANSWER }, "absent"],
    [
      "claude",
      "a copy of a request",
      { type: "api-request-blob", message: { role: "user", content: ANSWER } },
      "absent",
    ],
    ["claude", "a result that 2.1.110 does not show", { ...toClaude([result({})]), version: "2.1.110" }, "absent"],
    [
      "claude",
      "what 2.1.110 shows beside a result",
      {
        type: "attachment",
        version: "2.1.110",
        attachment: { type: "hook_additional_context", content: [`Recorded as ${ANSWER}.`] },
      },
      "given",
    ],
    ["codex", "a message with the answer", toCodex("user"), "given"],
    [
      "codex",
      "a result with the answer",
      ofCodex({ type: "function_call_output", call_id: "c", output: ANSWER }),
      "given",
    ],
    ["codex", "the model's own words", toCodex("assistant"), "absent"],
    ["codex", "an event", { type: "event_msg", payload: { type: "item_completed", text: ANSWER } }, "absent"],
    ["gemini", "a message with the answer", { type: "user", content: [{ text: ANSWER }] }, "given"],
    ["gemini", "messages set anew", { $set: { messages: [{ type: "user", content: [{ text: ANSWER }] }] } }, "given"],
    [
      "gemini",
      "a result with the answer",
      { type: "user", content: [{ functionResponse: { response: { output: ANSWER } } }] },
      "given",
    ],
    [
      "gemini",
      "a refusal with the answer, as our hook says it",
      { type: "user", content: [{ functionResponse: { response: { error: ANSWER } } }] },
      "given",
    ],
    ["gemini", "the model's own words", { type: "gemini", content: ANSWER }, "absent"],
  ])("%s that holds %s", async (name, _, line, witnessed) => {
    write(FILES[name], [HEADS[name], { type: "other" }, line].map((one) => `${JSON.stringify(one)}\n`).join(""));
    expect(await ask({ claude, codex, gemini }[name])).toBe(witnessed);
  });

  test.each([claude, codex, gemini, opencode, command])("$name that is not there says nothing", async (agent) => {
    expect(await ask(agent)).toBe("unknown");
  });

  test("claude that was cut off in the line of the answer says nothing", async () => {
    write(FILES.claude, `{"type":"other"}\n{"type":"user","message":{"role":"user","content":"${ANSWER}`);
    expect(await ask(claude)).toBe("unknown");
  });

  const told = { type: "user", content: [{ text: ANSWER }] };
  const anew = (...messages: object[]) => ({ $set: { messages } });
  test.each<[string, object[], Witnessed]>([
    ["took it back when the request failed", [told, anew({ type: "user", content: [{ text: "other" }] })], "absent"],
    ["wrote its messages anew with it", [told, anew({ type: "user", content: [{ text: "x" }] }, told)], "given"],
    ["keeps it with the result of a call", [told, anew({ type: "gemini", toolCalls: [{ result: ANSWER }] })], "given"],
    ["has replied to it before its chat was compressed", [told, { type: "gemini" }, anew({ type: "user" })], "given"],
    ["is told it again", [told, anew({ type: "user" }), told], "given"],
  ])("gemini that %s", async (_, lines, witnessed) => {
    write(FILES.gemini, [HEADS.gemini, ...lines].map((one) => `${JSON.stringify(one)}\n`).join(""));
    expect(await ask(gemini)).toBe(witnessed);
  });

  test("gemini that was ended in the line of its reply was told", async () => {
    write(FILES.gemini, `${JSON.stringify(HEADS.gemini)}\n${JSON.stringify(told)}\n{"type":"gemini","content":"cut`);
    expect(await ask(gemini)).toBe("given");
  });

  test("gemini of another session with the same beginning says nothing", async () => {
    write(
      FILES.gemini,
      `{"sessionId":"5e551011-1111-4000-8000-000000000000"}\n{"type":"user","content":"${ANSWER}"}\n`,
    );
    expect(await ask(gemini)).toBe("unknown");
  });

  test("claude and codex is found where their own variables say", async () => {
    write("c/projects/p/x.jsonl".replace("x", SESSION), `${JSON.stringify(toClaude(ANSWER))}\n`);
    write(`x/sessions/2026/11/15/rollout-1-${SESSION}.jsonl`, `${JSON.stringify(toCodex("user"))}\n`);
    expect(await ask(claude, { CLAUDE_CONFIG_DIR: join(home, "c") })).toBe("given");
    expect(await ask(codex, { CODEX_HOME: join(home, "x") })).toBe("given");
  });
});

test.each<[string, object, object, Witnessed]>([
  ["a message with the answer", { role: "user" }, { type: "text", text: ANSWER }, "given"],
  ["the model's own words", { role: "assistant" }, { type: "text", text: ANSWER }, "absent"],
  [
    "a result with the answer",
    { role: "assistant" },
    { type: "tool", callID: "c", state: { status: "completed", output: ANSWER } },
    "given",
  ],
  [
    "the result of the call",
    { role: "assistant" },
    { type: "tool", callID: CALL, state: { status: "completed", output: "" } },
    "given",
  ],
  [
    "a call that failed",
    { role: "assistant" },
    { type: "tool", callID: CALL, state: { status: "error", error: "exit 1" } },
    "absent",
  ],
  [
    "a refusal with the answer",
    { role: "assistant" },
    { type: "tool", callID: CALL, state: { status: "error", error: ANSWER } },
    "given",
  ],
])("a database of opencode that holds %s", async (_, message, part, witnessed) => {
  mkdirSync(join(home, "opencode"));
  const db = openDatabase(join(home, "opencode", "opencode.db"));
  db.exec("create table session (id text); create table message (id text, session_id text, data text)");
  db.exec("create table part (id text, message_id text, session_id text, data text)");
  db.prepare("insert into session values (?)").run(SESSION);
  db.prepare("insert into message values ('m', ?, ?)").run(SESSION, JSON.stringify(message));
  db.prepare("insert into part values ('p', 'm', ?, ?)").run(SESSION, JSON.stringify(part));
  db.close();
  expect(await ask(opencode, { XDG_DATA_HOME: home })).toBe(witnessed);
});

test("a database of opencode with other tables says nothing", async () => {
  mkdirSync(join(home, "opencode"));
  const db = openDatabase(join(home, "opencode", "opencode.db"));
  db.exec("create table other (id text)");
  db.close();
  expect(await ask(opencode, { XDG_DATA_HOME: home })).toBe("unknown");
});

describe("a call of claude", () => {
  const mark = { type: "attachment", attachment: { type: "hook_deferred_tool", toolUseID: CALL } };
  const called = { type: "assistant", message: { content: [{ type: "tool_use", id: CALL }] } };

  test.each<[string, object[], boolean | undefined]>([
    ["is put off when it is marked so", [called, mark], true],
    ["is no longer put off when it has a result", [called, mark, toClaude([result({})])], false],
    ["is no longer put off when it has failed", [called, mark, toClaude([result({ is_error: true })])], false],
    ["was not put off when another was", [called, { ...mark, attachment: { toolUseID: "toolu_12" } }], undefined],
    ["may have been put off where nothing says so", [called], undefined],
  ])("%s", async (_what, lines, isPutOff) => {
    write(FILES.claude, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const evidence = { session: SESSION, dir: "/repo", env: { HOME: home }, callId: CALL };
    expect(await claude.isPutOff?.(evidence)).toBe(isPutOff);
  });
});
