import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENTS } from "../agents.ts";
import { chooseWay, findAgentOf } from "../registry.ts";
import type { AgentEvent, Task } from "../agent.ts";
import { parseJson } from "../json.ts";
import { OpencodeLines } from "./output.ts";
import { OpencodePlan, opencodeServe } from "./serve.ts";
import { opencode } from "./opencode.ts";
import { OutputState } from "../runner/output-state.ts";

const FOLDER = join("test", "fixtures", "agents", "opencode-serve-1.18.33");

function aTask(args: readonly string[], fields: Partial<Task> = {}): Task {
  return {
    runId: "r_1",
    epoch: 1,
    startDir: "/runs/1",
    dir: "/repo",
    program: "/bin/opencode",
    args,
    env: {},
    prompt: "Do it.",
    version: "1.18.33",
    askd: ["node", "/askd"],
    token: undefined,
    promptTool: undefined,
    resumeWith: undefined,
    liveWindowMs: 180_000,
    maxTurns: undefined,
    budgetUsd: undefined,
    ...fields,
  };
}

const planOf = (files: ReadonlyArray<{ name: string; text: string }>) =>
  OpencodePlan.parse(JSON.parse(files.find(({ name }) => name === "opencode-serve.json")?.text ?? ""));

describe("a start by the server", () => {
  test("is a bridge that is told what to start, with the prompt on its stdin", () => {
    const task = aTask(["run", "-m", "a/b/c", "--agent", "plan", "--title", "T", "--log-level", "WARN"]);
    const { argv, files, stdin, env } = opencodeServe.start(task);
    const named = ["--hold", "180s", "--plan", "/runs/1/opencode-serve.json"];
    expect(argv).toEqual(["node", "/askd", "bridge", "opencode", ...named]);
    expect(stdin).toBe("Do it.");
    expect(env).toHaveProperty("OPENCODE_CONFIG_CONTENT");
    expect(planOf(files)).toEqual({
      server: ["/bin/opencode", "serve", "--hostname", "127.0.0.1", "--port", "0", "--log-level", "WARN"],
      dir: "/repo",
      title: "T",
      message: { model: { providerID: "a", modelID: "b/c" }, agent: "plan" },
      fallback: opencode.start(task).argv,
    });
  });

  test("goes on with the session by a message", () => {
    const task = { ...aTask(["run", "--title", "T", "-s", "ses_0"]), session: "ses_1" };
    const { files, stdin, session } = opencodeServe.resume(task, { by: "message", text: "Redis." });
    expect({ stdin, session }).toEqual({ stdin: "Redis.", session: "ses_1" });
    expect(planOf(files)).toMatchObject({ session: "ses_1", message: {} });
    expect(planOf(files).title).toBeUndefined();
  });

  test.each([
    ["OpenCode 1.18.9 is older than 1.18.33", aTask(["run"], { version: "1.18.9" })],
    ["OpenCode 0.20.40 is older than 1.18.33", aTask(["run"], { version: "0.20.40" })],
    ["only run knows --file", aTask(["run", "-f", "a.txt"])],
    ["only run knows --attach", aTask(["run", "--attach", "http://other"])],
    ["only run knows --auto", aTask(["run", "--auto"])],
    ["it was given no prompt", aTask(["run"], { prompt: undefined })],
  ])("is left to `opencode run`, which is said, when %s", (why, task) => {
    const start = opencodeServe.start(task);
    expect(start.argv).toEqual(opencode.start(task).argv);
    expect(start.added.at(-1)).toBe(`opencode run in place of its server: ${why}`);
  });

  test.each(["1.18.33", "1.19.0", "2.0.0-beta.1", undefined])("is used with version %s", (version) => {
    expect(opencodeServe.start(aTask(["run"], { version })).argv).toContain("bridge");
  });

  test("is chosen by the environment, or by its name", () => {
    expect(findAgentOf(AGENTS, "/bin/opencode")).toBe(opencode);
    expect(chooseWay(AGENTS, opencode, { ASKD_OPENCODE: "serve" })).toBe(opencodeServe);
    expect(chooseWay(AGENTS, opencode, {})).toBe(opencode);
  });
});

/** The events in a recording, read as lines of `opencode run`. */
function seen(name: string): AgentEvent[] {
  const events = readFileSync(join(FOLDER, name), "utf8").split("\n\n").filter(Boolean);
  const parsed = events.map((text) => parseJson(text.slice("data: ".length)) ?? {});
  const session = /ses_\w+/.exec(events.join())?.[0] ?? "";
  const lines = new OpencodeLines(session);
  return parsed.flatMap((event) => {
    const line = lines.read(event);
    return line ? opencodeServe.read(JSON.stringify(line)) : [];
  });
}

describe("the events of the server", () => {
  test("show a session, words, a call with its result, what was used, and the end", () => {
    const reading = new OutputState();
    const sights = seen("events-question.sse");
    reading.take(sights);
    expect(reading).toMatchObject({ session: expect.stringMatching(/^ses_/), ended: { status: "completed" } });
    expect(reading.lastWords).toMatch(/^Final: User has answered your questions: "Which\?"="free text/);
    expect(reading.usage).toEqual([
      { since: "line", turns: 2, costUsd: undefined, inputTokens: 122 + 282, outputTokens: 77 + 43 },
    ]);
    const shown = sights.filter((sight) => sight.kind === "shown");
    expect(shown).toEqual([
      expect.objectContaining({ isError: false, text: expect.stringContaining('"Many?"="A, B"') }),
    ]);
    expect(sights.filter((sight) => sight.kind === "text").map(({ text }) => text)[0]).toBe("asking");
  });

  test("show a tool that a person allowed", () => {
    const shown = seen("events-permission.sse").filter((sight) => sight.kind === "shown");
    expect(shown).toEqual([expect.objectContaining({ isError: false, text: expect.stringContaining("hi") })]);
  });

  test("show a turn that was aborted as a failure, and what came after it as its end", () => {
    const sights = seen("events-abort.sse");
    expect(sights).toContainEqual({
      kind: "ended",
      result: { status: "failed", reason: "agent_error", summary: "Aborted" },
    });
    const reading = new OutputState();
    reading.take(sights);
    expect(reading.ended).toEqual({ status: "completed" });
  });

  test("of another session are not its own", () => {
    const event = {
      type: "message.part.updated",
      properties: { sessionID: "ses_2", part: { type: "step-start", id: "p" } },
    };
    expect(new OpencodeLines("ses_1").read(event)).toBeUndefined();
    expect(new OpencodeLines("ses_2").read(event)).toMatchObject({ type: "step_start" });
  });
});
