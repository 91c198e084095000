import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "./agent.ts";
import { claude } from "./claude/claude.ts";
import { codexApp } from "./codex/app-server.ts";
import { codex } from "./codex/codex.ts";
import { command } from "./command/command.ts";
import { gemini } from "./gemini/gemini.ts";
import { opencode } from "./opencode/opencode.ts";
import { OutputState } from "./runner/output-state.ts";

const ROOT = join("test", "fixtures", "agents");
const AGENTS: Record<string, Agent> = { claude, codex, gemini, opencode };

/** The expected events of a recording, written from it by hand and without our readers. */
const Expected = z.record(
  z.string(),
  z.strictObject({
    session: z.string().optional(),
    words: z.string().optional(),
    /** The call that it stopped at, and its tool. */
    deferred: z.string().optional(),
    asked: z.string().optional(),
    outcome: z.enum(["completed", "failed"]).optional(),
    reason: z.string().optional(),
    costUsd: z.number().optional(),
    inputTokens: z.number().optional(),
    outputTokens: z.number().optional(),
    exit: z.number().optional(),
  }),
);
const expected = Expected.parse(JSON.parse(readFileSync(join(ROOT, "expected.json"), "utf8")));

const recordings = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ndjson"))
  .map((name) => name.replaceAll("\\", "/").replace(/\.ndjson$/, ""))
  .sort();
const linesOf = (name: string) =>
  readFileSync(join(ROOT, `${name}.ndjson`), "utf8")
    .trimEnd()
    .split("\n");

function readAll(agent: Agent, name: string): OutputState {
  const reading = new OutputState();
  for (const line of linesOf(name)) reading.take(agent.read(line));
  reading.end();
  return reading;
}

/** The events that our readers find, in the words of the table. */
function seen(reading: OutputState) {
  const { deferred, ended } = reading;
  const question = reading.marked[0]?.["question"] ?? reading.reported?.ask?.["question"];
  const find = (name: "costUsd" | "inputTokens" | "outputTokens") =>
    reading.usage.find((usage) => usage[name] !== undefined)?.[name];
  return {
    session: reading.session,
    words: reading.lastWords || undefined,
    deferred: deferred && `${deferred.callId} ${deferred.name}`,
    asked: question,
    outcome: ended?.status,
    reason: ended?.reason,
    costUsd: find("costUsd"),
    inputTokens: find("inputTokens"),
    outputTokens: find("outputTokens"),
  };
}

test("every recording of a program's lines is in the table", () => {
  const read = recordings.filter((name) => !name.startsWith("codex-appserver"));
  expect(Object.keys(expected).sort()).toEqual(read);
});

test.each(Object.entries(expected))("%s is read as what it is", (name, { exit = 0, ...values }) => {
  const agent = AGENTS[name.split("-")[0] ?? ""];
  if (!agent) throw new Error(`nobody reads ${name}`);
  const found = seen(readAll(agent, name));
  expect(found).toEqual({ ...blank, ...values });
  if (exit !== 0) expect(found.outcome).not.toBe("completed");
});

const blank = {
  session: undefined,
  words: undefined,
  deferred: undefined,
  asked: undefined,
  outcome: undefined,
  reason: undefined,
  costUsd: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
};

test.each(Object.entries(expected))("%s is recognised behind another program", (name, { session, outcome }) => {
  const { session: found, ended } = readAll(command, name);
  expect({ session: found, outcome: ended?.status }).toEqual({ session, outcome });
});

describe.each([...Object.values(AGENTS), codexApp, command])("$name", (agent) => {
  test("reads the recordings of all others without an error", () => {
    const reply = readFileSync(join(ROOT, "opencode-serve-1.18.33", "question-http.json"), "utf8");
    const lines = [...recordings.flatMap(linesOf), reply, ...reply.split("\n")];
    expect(lines.map((line) => agent.read(line)).every(Array.isArray)).toBe(true);
  });

  test("bears lines that are cut, empty, twisted or of another type", () => {
    const lines = recordings.flatMap((name) => linesOf(name).slice(0, 12));
    const cut = lines.map((line) => line.slice(0, Math.floor(line.length / 2)));
    const twisted = lines.map((line) => line.replace(/"(content|part|item|message|result|usage)":/g, '"$1":7,"x":'));
    const odd = [
      "",
      " ",
      "{",
      "}",
      "null",
      "7",
      "[]",
      '"x"',
      "{}",
      '{"type":null}',
      '{"type":"new.type"}',
      "\u0000",
      "words",
    ];
    const types = [
      "system",
      "assistant",
      "user",
      "result",
      "item.completed",
      "message",
      "tool_use",
      "step_finish",
      "text",
    ];
    const bare = types.flatMap((type) => [
      `{"type":"${type}"}`,
      `{"type":"${type}","part":[],"item":[],"message":"x"}`,
    ]);
    for (const line of [...cut, ...twisted, ...odd, ...bare]) {
      const sights = agent.read(line);
      expect(Array.isArray(sights)).toBe(true);
      new OutputState().take(sights);
    }
  });

  test("reads a line of 16 MB and skips a longer one with a warning", () => {
    const long = JSON.stringify({ type: "unknown", text: "x".repeat(16 * 1024 * 1024 - 100) });
    expect(agent.read(long).filter((sight) => sight.kind === "warning")).toEqual([]);
    expect(agent.read(`${long}${" ".repeat(200)}`)).toEqual([
      { kind: "warning", text: expect.stringContaining("skipped") },
    ]);
  });
});
