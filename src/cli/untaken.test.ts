import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { DAY_MS, epochMs } from "../core/instant.ts";
import type { RunInput } from "../engine/engine.ts";
import type { Child } from "./context.ts";

const SESSION = "5e551011-0000-4000-8000-000000000000";
const COMMAND = `cd /repo && gemini --resume ${SESSION}`;
const WAY_ON = `Go on in its session: ${COMMAND}`;

let scene: Scene;
let home: string;
beforeEach(() => {
  scene = new Scene();
  home = mkdtempSync(join(tmpdir(), "askd-untaken-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const typed = (argv: readonly string[], over: object = {}) => type(scene, argv, { env: { HOME: home }, ...over });

/** Gemini CLI as a person starts it asked by our tool and was told to stop; its record says so. */
async function parked(over: Partial<RunInput> = {}) {
  const run: RunInput = { agent: "gemini", host: "here", giveBack: "poll", session: "mcp:0c87", dir: "/repo", ...over };
  const asked = await scene.engine.ask(scene.input(), AGENT, { run });
  const chats = join(home, ".gemini", "tmp", "repo", "chats");
  mkdirSync(chats, { recursive: true });
  writeFileSync(join(chats, "..", ".project_root"), "/repo");
  const told = { type: "user", content: [{ text: `Your question is kept as ${asked.question.id}` }] };
  const lines = [{ sessionId: SESSION, kind: "main" }, told].map((line) => JSON.stringify(line));
  const file = join(chats, "session-2026-11-15T10-00-5e551011.jsonl");
  writeFileSync(file, lines.join("\n"));
  const seconds = epochMs(scene.now) / 1000;
  utimesSync(file, seconds, seconds);
  return asked;
}

describe("an answer that only a person can bring to its agent", () => {
  test("is said to wait for them, with the command that resumes the session, not with a name of ours", async () => {
    const { question } = await parked();
    expect((await typed(["show", "1"])).stdout).toMatch(/^Agent: Gemini CLI \(unverified\)$/m);
    const { stdout } = await typed(["answer", question.id, "1"]);
    expect(stdout).toMatch(/^✓ Answer recorded for #1 .*: Redis\n/);
    expect(stdout).toContain(`\n  ${WAY_ON}\n`);
    expect((await typed(["show", "1"])).stdout).toContain(`Status: answered, waiting for you\nNext: ${WAY_ON}\n`);
    expect((await typed(["runs", "list"])).stdout).toContain("#1  answered, waiting for you  gemini");
    const status = (await typed(["status"])).stdout;
    expect(status).toMatch(/^ANSWERED, NOT RESUMED:\n {2}#1 .*\(Gemini CLI\)\n {6}Go on in its session: cd/m);
    expect(status).not.toMatch(/RUNNING|Nothing is waiting/);
    expect((await typed(["status", "--short"])).stdout).toBe("?0 ▶0\n");
    const happened = await typed(["watch", "--since", "1h", "--type", "run.resuming", "--limit", "1"]);
    expect(happened.stdout).toMatch(/#1 \S+ {2}answered, waiting for you\n$/);
  });

  test("is told to programs by fields beside the status that the contract names", async () => {
    const { question } = await parked();
    const answered = await typed(["answer", question.id, "1", "--json=status,run_status,resume_command"]);
    const fields = { run_status: "resuming", resume_command: COMMAND };
    expect(JSON.parse(answered.stdout)).toEqual({ status: "answered", ...fields });
    const shown = await typed(["show", "1", "--json=status,answer_untaken,session,resume_command"]);
    const run = { status: "resuming", answer_untaken: true, session: null };
    expect(JSON.parse(shown.stdout)).toEqual({ ...run, resume_command: COMMAND });
    const status = await typed(["status", "--json=answered,running"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ answered: [{ ...run, resume_command: COMMAND }], running: [] });
  });

  test("is not started by runs resume, which prints what to type", async () => {
    const { question } = await parked();
    await typed(["answer", question.id, "1", "--no-resume"]);
    const resumed = await typed(["runs", "resume", "1"]);
    expect(resumed.stdout).toMatch(/^✓ #1 .* is answered, waiting for you; askd did not start it\n/);
    expect(resumed.stdout).toContain(`  ${WAY_ON}\n`);
    expect((await typed(["runs", "resume", "1"])).stdout).toContain(COMMAND);
    expect(await scene.jobs()).not.toContain("resume");
  });

  test("lets takeover print the command and start it", async () => {
    const { question } = await parked();
    await typed(["answer", question.id, "1"]);
    expect(await typed(["takeover", "1"])).toEqual({ exit: 0, stdout: `${COMMAND}\n`, stderr: "" });
    const started: Child[] = [];
    const runChild = (child: Child) => {
      started.push(child);
      return Promise.resolve({ exitCode: 0, stdout: "" });
    };
    expect(await typed(["takeover", "1", "--exec"], { runChild })).toMatchObject({ exit: 0 });
    expect(started).toMatchObject([{ argv: ["gemini", "--resume", SESSION], cwd: "/repo" }]);
  });

  test("comes with words where no session is found, never with a name that resumes nothing", async () => {
    const { question } = await parked({ agent: "opencode" });
    const { stdout } = await typed(["answer", question.id, "1"]);
    expect(stdout).toContain(`Start opencode in /repo and have it call check_answer ${question.id}\n`);
    const refused = await typed(["takeover", "1"]);
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(refused.stderr).toContain(`have it call check_answer ${question.id}`);
  });

  test("is final, and nothing goes on, when its undo window ends", async () => {
    const { question } = await parked();
    const { stdout } = await typed(["answer", question.id, "1", "--undo-window", "10s"]);
    expect(stdout).toContain("It is final in 10s. Take it back before: askd undo 1");
  });

  test("is said to wait for them too if it was given after the deadline", async () => {
    const { question } = await parked();
    await scene.pass(2 * DAY_MS);
    const { stdout } = await typed(["answer", "--force", question.id, "1"]);
    expect(stdout).toContain(`\n  ${WAY_ON}\n`);
    expect((await typed(["show", "1"])).stdout).toContain(`Status: answered, waiting for you\nNext: ${WAY_ON}\n`);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ forced: { handover: { state: "owed" } } });
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("is left to another machine where the session is on one", async () => {
    const { question } = await parked({ host: "there" });
    const { stdout } = await typed(["answer", question.id, "1"]);
    expect(stdout).toContain("Its session is on there. There: askd takeover 1\n");
  });
});

test("a run that waits for an answer can be taken over, and nobody is told that askd would start it", async () => {
  await parked();
  const { stdout, stderr } = await typed(["takeover", "1"]);
  expect(stdout).toBe(`${COMMAND}\n`);
  expect(stderr).toMatch(/is still waiting; the agent receives the answer when it asks again\.\n$/);
});
