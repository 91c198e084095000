import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IDS, aRun } from "../../../test/builders.ts";
import { epochMs, instant } from "../../core/instant.ts";
import type { Run } from "../../core/run/run.ts";
import { openDatabase } from "../../sqlite.ts";
import { readOwnIdentity } from "../process/process-identity.ts";
import { AGENTS } from "../agents.ts";
import { findTakeover, adviseResume, isSessionFree, takeoverCommand } from "./takeover.ts";

const SESSION = "5e551011-0000-4000-8000-000000000000";
const OTHER = "07be4000-0000-4000-8000-000000000000";
const ASKED = IDS.question();
const TOLD = `Your question is kept as ${ASKED} and still waits for a person.`;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-takeover-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A run of a session that named itself only by its connection, answered by now. */
function untaken(over: Partial<Run> = {}): Run {
  const named = { session: "mcp:0c871027", dir: "/repo", lastQuestionId: ASKED, owes: [ASKED] };
  const kept = { giveBack: "poll", implicit: true, status: "resuming", createdAt: instant(Date.now()) } as const;
  return aRun({ agent: "gemini", number: 6, ...kept, ...named, ...over });
}

const here = () => ({ agents: AGENTS, host: "here", env: { HOME: home } });
const lineOf = async (run: Run): Promise<string> => (await adviseResume(run, here(), "askd")).line;

function write(file: string, ...lines: Array<object | string>): string {
  const path = join(home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`)).join(""));
  return path;
}

/** A chat of Gemini CLI that was told something, in a project. */
function aChat(project: string, session: string, told: string): string {
  write(`.gemini/tmp/${project}/.project_root`, `/${project}`);
  return write(
    `.gemini/tmp/${project}/chats/session-2026-11-15T10-00-${session.slice(0, 8)}.jsonl`,
    { sessionId: session, kind: "main" },
    { type: "user", content: [{ functionResponse: { response: { output: told } } }] },
  );
}

function anOpencode(rows: ReadonlyArray<{ id: string; parent?: string; dir: string; told: string }>): void {
  mkdirSync(join(home, ".local/share/opencode"), { recursive: true });
  const db = openDatabase(join(home, ".local/share/opencode/opencode.db"));
  db.exec("create table session (id text, parent_id text, directory text)");
  db.exec("create table part (session_id text, time_updated integer, data text)");
  for (const { id, parent, dir, told } of rows) {
    db.prepare("insert into session values (?, ?, ?)").run(id, parent ?? null, dir);
    const data = JSON.stringify({ type: "tool", state: { output: told } });
    db.prepare("insert into part values (?, ?, ?)").run(id, Date.now(), data);
  }
  db.close();
}

describe("the session of a client that names none is the one that was told the id of the question:", () => {
  test("Gemini CLI, in the directory that its project belongs to", async () => {
    aChat("repo", OTHER, "something else");
    aChat("repo", SESSION, TOLD);
    expect(await lineOf(untaken())).toBe(`Go on in its session: cd /repo && gemini --resume ${SESSION}`);
  });

  test("OpenCode, and of a subagent the session that it belongs to", async () => {
    anOpencode([
      { id: "ses_other", dir: "/repo", told: "something else" },
      { id: "ses_child", parent: "ses_main", dir: "/repo", told: TOLD },
    ]);
    const run = untaken({ agent: "opencode" });
    expect(await lineOf(run)).toBe("Go on in its session: cd /repo && opencode --session ses_main");
  });

  test("Claude Code and Codex over HTTP, also where the directory is known to them alone", async () => {
    const told = { type: "tool_result", content: TOLD };
    write(
      `.claude/projects/-repo/${SESSION}.jsonl`,
      { type: "api-request-blob", message: { content: TOLD } },
      { type: "user", cwd: "/repo", message: { role: "user", content: [told] } },
    );
    const claude = untaken({ agent: "claude", session: "ask:7f", dir: undefined });
    expect(await lineOf(claude)).toContain(`cd /repo && claude --resume ${SESSION}`);
    write(
      `.codex/sessions/2026/11/15/rollout-2026-11-15T10-00-00-${SESSION}.jsonl`,
      { type: "session_meta", payload: { id: SESSION, cwd: "/repo" } },
      { type: "response_item", payload: { type: "function_call_output", output: TOLD } },
    );
    expect(await lineOf(untaken({ agent: "codex" }))).toContain(`cd /repo && codex resume ${SESSION}`);
  });
});

describe("no command is guessed", () => {
  const plain = `Its session is not among those of gemini here. Start gemini in /repo and have it call check_answer ${ASKED}`;

  test("where no record knows the question, though there are newer sessions in that directory", async () => {
    aChat("repo", OTHER, "something else");
    expect(await lineOf(untaken())).toBe(plain);
    expect(await findTakeover(untaken(), here())).toBeUndefined();
  });

  test("where two sessions of that directory know it; one of another directory does not count then", async () => {
    aChat("repo", SESSION, TOLD);
    aChat("elsewhere", "1111aaaa-0000-4000-8000-000000000000", TOLD);
    expect(await lineOf(untaken())).toContain(SESSION);
    aChat("repo", OTHER, TOLD);
    expect(await lineOf(untaken())).toBe(plain);
  });

  test("from a record that was last written long before the run began", async () => {
    const file = aChat("repo", SESSION, TOLD);
    const longAgo = epochMs(untaken().createdAt) / 1000 - 86_400;
    utimesSync(file, longAgo, longAgo);
    expect(await lineOf(untaken())).toBe(plain);
  });

  test("for a machine that is not this one, nor for an asker that is no agent", async () => {
    expect(await lineOf(untaken({ host: "there" }))).toBe("Its session is on there. There: askd takeover 6");
    expect(await lineOf(untaken({ agent: "none" }))).toMatch(
      /^The asker gets it by asking again, or with: askd check q-/,
    );
  });
});

test("a session that names itself is not searched for, and one that is still open is said to be", async () => {
  const run = untaken({ agent: "claude", session: SESSION });
  const command = `cd /repo && claude --resume ${SESSION}`;
  expect(await adviseResume(run, here(), "askd")).toEqual({ line: `Go on in its session: ${command}`, command });
  const { pid, boot, born } = await readOwnIdentity();
  const open = { ...run, seen: { pid, startedAt: `${boot}:${born}` } };
  expect(await lineOf(open)).toBe(`Its session is still open: tell it to go on there. Once it is closed: ${command}`);
  const found = await findTakeover({ ...run, seen: { pid, startedAt: `${boot}:1` } }, here());
  expect(found && takeoverCommand(found)).toBe(command);
  expect(found?.isOpen).toBe(false);
});

test("only a run whose answer nobody else can bring is left while it resumes", () => {
  expect(isSessionFree(untaken())).toBe(true);
  expect(isSessionFree(untaken({ giveBack: "worker" }))).toBe(false);
  expect(isSessionFree(untaken({ status: "running" }))).toBe(false);
});
