import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import type { ProcessLaunch } from "../src/agents/runner/process-launch.ts";
import type { ProcessWorld } from "../src/cli/process.ts";
import type { Question } from "../src/core/question/question.ts";
import type { Engine } from "../src/engine/engine.ts";
import { removeFolder } from "./remove-folder.ts";
import type { Scene } from "./scene.ts";
import { type Typed, type } from "./typed.ts";

export const QUESTION = "claude-2.1.325-question";
export const OTHER = {
  questions: [{ question: "Which database?", options: [{ label: "SQLite" }, { label: "PostgreSQL" }] }],
};
export const HEADLESS = { CLAUDE_CODE_SESSION_ATTENDED: "0", CLAUDE_CODE_ENTRYPOINT: "sdk-cli", CLAUDE_PID: "42" };
export const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: "1", CLAUDE_CODE_ENTRYPOINT: "cli" };

/** How the process behind CLAUDE_PID was started; its program only has to be there. */
export const STARTED: ProcessLaunch = {
  argv: ["/bin/sh", "-p", "Fix it, and say --dangerously-skip-permissions", "--model", "opus", "--add-dir", "../lib"],
  env: { HOME: "/home/ada", ANTHROPIC_API_KEY: "sk-1", ASKD_TOKEN: "askd_t_1" },
  dir: "/repo",
};

/** Where askd keeps everything of a test; gone when that ends. */
export function hookHome(): string {
  const home = mkdtempSync(join(tmpdir(), "askd-hook-"));
  onTestFinished(() => removeFolder(home));
  return home;
}

/** Starts the hook of Claude Code with what the program would write to it. */
export function hook(
  scene: Scene,
  input: unknown,
  over: Partial<ProcessWorld> = {},
  ...flags: string[]
): Promise<Typed> {
  const env: ProcessWorld["env"] = over.env ?? HEADLESS;
  const findStartedAs = () => Promise.resolve(STARTED);
  const world = {
    findStartedAs,
    ...over,
    stdin: inputOf(input),
    env: { ASKD_HOME: env["ASKD_HOME"] ?? hookHome(), ...env },
  };
  return type(scene, ["hook", "claude", "--hold", "1s", ...flags], world);
}

/** What a program writes to its hook. */
export function inputOf(input: unknown): ProcessWorld["stdin"] {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { isTty: false, readAll: () => Promise.resolve(text), readLine: () => Promise.resolve(undefined) };
}

/** The question that waits, once it is asked. */
export async function waiting(engine: Engine): Promise<Question> {
  return vi.waitFor(async () => {
    const [question] = await engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
    if (!question) throw new Error("nothing waits");
    return question;
  }, 10_000);
}

/** A hook that nobody answers until its window is over. */
export async function unanswered(scene: Scene, input: unknown, over: Partial<ProcessWorld> = {}): Promise<Typed> {
  const hooked = hook(scene, input, over);
  await vi.waitFor(async () => {
    const [question] = await scene.engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
    expect(question).toMatchObject({ hold: { windowMs: 1000 } });
  }, 10_000);
  await scene.pass(1_000);
  return hooked;
}

/** What the hook says becomes of the call. */
export function decision({ stdout }: Typed): Record<string, unknown> {
  const output = JSON.parse(stdout) as { hookSpecificOutput: Record<string, unknown> };
  return output.hookSpecificOutput;
}
