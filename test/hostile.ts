import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeRunDir } from "../src/agents/runner/run-files.ts";
import type { Actor } from "../src/core/people/actor.ts";
import { type Content, hashContent } from "../src/core/question/content.ts";
import type { Event } from "../src/core/trail/event.ts";
import { QuestionId, RunId } from "../src/core/id.ts";
import type { Person } from "../src/core/people/person.ts";
import { personEntry } from "../src/core/people/person.ts";
import type { Question } from "../src/core/question/question.ts";
import type { Run } from "../src/core/run/run.ts";
import { aQuestion, aRun, anEvent, IDS, NOON } from "./builders.ts";
import { Scene } from "./scene.ts";

/** What people and programs have put into text to harm whoever looks at it. */
const HOSTILE: Readonly<Record<string, string>> = {
  "CSI sequences": "a\x1b[2J\x1b[35mb\x1b[1;31mc\x1b[9999Cd",
  "OSC 8 and 52": "a\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b]52;c;ZXZpbA==\x1b\\b\x1b]0;title\x07",
  "DCS, APC and PM": "a\x1bP1$r0m\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d\x1bc",
  "C1 controls": "a\x9b2Jb\x9d52;c;x\x9cc\x85d\x90e\x80f\x9fg",
  "bell, null and delete": "a\x07b\x00c\x7fd",
  "carriage return": "safe\rEVIL",
  backspace: "yes\b\b\bno",
  "form feed and shifts": "a\fb\vc\x0ed\x0fe",
  "bidi controls": "a\u202eevil\u202cb\u2066c\u2069d\u200fe\u061cf\u202a",
  "zero width": "pay\u200bpal\u200c\u2060\ufeff\u00ad\u180e",
  "lone surrogates": "a\ud800b\udc00c\udfff",
  "tags block": "ok\u{e0001}\u{e0041}\u{e0042}\u{e007f}",
  "line separators": "a\u2028b\u2029c",
  "a forged line": "x\nFORGED ✓ Answer recorded for #1",
  "combining flood": `a${"\u0301".repeat(5_000)}b`,
};

/** All of them at once. */
export const HOSTILE_TEXT: string = Object.entries(HOSTILE)
  .map(([name, text]) => `${name}: ${text}`)
  .join(" ");

/** Texts that take for ever wherever somebody looks at each of their characters more than a few times. */
export const LONG_TEXTS: Readonly<Record<string, string>> = {
  "a megabyte in one line": `start${"x".repeat(1024 * 1024)}end`,
  "very many spaces and breaks": `start${" \n\t".repeat(87_381)}end`,
  "very many escapes": "\x1b[31m".repeat(52_428),
};

/** Says what in a text a terminal would obey or a reader would miss; colours of our own are left out. */
export function findUnsafe(text: string): string | undefined {
  const plain = text.replace(OWN_COLOURS, "");
  const found = UNSAFE.exec(plain);
  return found ? JSON.stringify(plain.slice(Math.max(0, found.index - 40), found.index + 40)) : undefined;
}

const OWN_COLOURS = new RegExp(String.raw`\x1b\[(?:1|2|22|31|32|33|36|39)m`, "g");
const UNSAFE = new RegExp(
  [
    String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f]`,
    String.raw`[\u202a-\u202e\u2066-\u2069\u200b\u200c\u200e\u200f\u2028\u2029\u061c\u2060\ufeff\u00ad\u180e]`,
    String.raw`[\u{e0000}-\u{e0fff}]`,
    String.raw`\p{Surrogate}|\p{M}{30}`,
  ].join("|"),
  "u",
);

const LONG_CHARS = 100_000;

/** Where the files of a hostile run are. */
export interface HostilePlace {
  home: string;
  tree: string;
}

export const PENDING_RUN = RunId.parse("r_01jcs7z0aa0000000000000001");

/** Files that an agent left: what it printed, and a working tree with names that git allows. */
export async function hostilePlace(text: string): Promise<HostilePlace> {
  const home = mkdtempSync(join(tmpdir(), "askd-hostile-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const tree = join(home, "tree");
  mkdirSync(tree);
  // A file's name has no NUL and no slash, and 255 bytes at most.
  const name = text
    .replace(/[\0/]/g, "_")
    .replace(/\p{Surrogate}/gu, "_")
    .slice(0, 60);
  writeFileSync(join(tree, `old ${name}`), "before\n");
  git(tree, "init", "-q");
  git(tree, "add", ".");
  git(tree, "commit", "-qm", "first");
  writeFileSync(join(tree, `old ${name}`), `${text}\n`);
  writeFileSync(join(tree, `new ${name}`), text);
  const runDir = await makeRunDir(join(home, "state"), PENDING_RUN);
  writeFileSync(join(runDir, "1.out"), logOf(text));
  writeFileSync(join(runDir, "1.err"), `${text}\n`);
  writeFileSync(join(runDir, "1.exit"), text.slice(0, 50));
  writeFileSync(join(runDir, "2.out"), "more\n");
  return { home, tree };
}

function logOf(text: string): string {
  const call = { type: "tool_use", id: "t1", name: text, input: { command: text, file_path: text } };
  const content = [{ type: "text", text }, call];
  const result = { type: "tool_result", tool_use_id: "t1", content: text };
  const lines = [
    JSON.stringify({ type: "assistant", message: { role: "assistant", content }, session_id: text }),
    JSON.stringify({ type: "user", message: { content: [result] } }),
    JSON.stringify({ type: "result", is_error: true, subtype: text, result: text, session_id: text }),
    text,
  ];
  return `${lines.join("\n")}\n`;
}

function git(dir: string, ...args: string[]): void {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...who, ...args], { cwd: dir, stdio: "ignore" });
}

/** A store in which everything that came from outside is this text, written past all that would refuse it. */
export async function hostileScene(text: string, { tree }: HostilePlace): Promise<Scene> {
  const scene = new Scene();
  const who: Actor = { scope: "human", id: text.slice(0, 200), channel: text.slice(0, 64), strength: "local" };
  const content = contentOf(text);
  const hash = hashContent(content);
  const runs = [
    aRun({ ...named(text, who), id: PENDING_RUN, dir: tree, status: "awaiting_input" }),
    aRun({ ...named(text, who), status: "failed", reason: text, endedAt: NOON }),
    aRun({ ...named(text, who), status: "completed", endedAt: NOON, externalId: text }),
    aRun({ ...named(text, who), status: "cancelled", endedAt: NOON, parentId: PENDING_RUN }),
  ];
  const [pending, failed, done, cancelled] = runs.map((run, index) => {
    const id = QuestionId.parse(`q_01jcs7z0aa${index}000000000000000`);
    run.lastQuestionId = id;
    run.session = `${text} ${index}`;
    return { ...aQuestion({ ...asked(text, who), id, runId: run.id, content: hash }) };
  });
  if (!pending || !failed || !done || !cancelled || !runs[0]) throw new Error("there are four of them");
  runs[0].pendingId = pending.id;
  const answer = { id: IDS.outcome(), outcome: "answer" as const, by: who, at: NOON, note: text };
  const given = { ...answer, items: { q1: { values: [text], text } } };
  const given2 = { state: "given" as const, at: NOON, witness: text };
  const questions: Question[] = [
    pending,
    { ...failed, status: "timeout", timedOutAt: NOON, policy: "fail", handover: given2 },
    { ...done, status: "answered", answer: given, handover: given2 },
    { ...cancelled, status: "cancelled", cancelledAt: NOON, cancelledBy: who, reason: text, handover: given2 },
  ];
  const detail = { reason: text, policy: text, to: [text], [text.slice(0, 100)]: text };
  const types: Event["type"][] = ["question.asked", "question.escalated", "question.timed_out", "run.failed"];
  const events = types.map((type) =>
    anEvent({ type, runId: runs[0]!.id, by: who, from: text, to: text, detail, ...ofQuestion(type, pending.id) }),
  );
  const person: Person = { ...reach(text), id: "eve", version: 0, groups: [text.slice(0, 64)] };
  // Once is enough of a megabyte.
  const kept = text.length > LONG_CHARS ? runs.slice(0, 1) : runs;
  for (const [index, run] of kept.entries()) {
    const committed = await scene.store.commit({
      runs: [run],
      questions: questions.slice(index, index + 1),
      contents: [{ hash, content }],
      ...(index === 0 && { events, entries: [personEntry(person)] }),
    });
    if (!committed.ok) throw new Error(`a hostile row was not written: ${committed.why}`);
  }
  return scene;
}

function ofQuestion(type: string, questionId: QuestionId): Pick<Event, "questionId"> {
  return type.startsWith("question.") ? { questionId } : {};
}

function contentOf(text: string): Content {
  const option = { key: "A", value: text, label: text, description: text, preview: text, recommended: true };
  const other = { key: "B", value: "b", label: `b ${text}`, description: text };
  const item = { id: "q1", header: text, text, options: [option, other], multiple: false, allowText: true };
  return { items: [item], context: text };
}

function named(text: string, who: Actor): Partial<Run> {
  return {
    name: text,
    agent: "claude",
    host: "here",
    session: text,
    repo: text,
    branch: text,
    size: text,
    labels: [text],
    startedAt: NOON,
    result: { summary: text, details: text, issues: [text, who.id] },
  };
}

function asked(text: string, who: Actor): Partial<Extract<Question, { status: "pending" }>> {
  const said = { id: IDS.outcome(), text, by: who, at: NOON, handover: { state: "owed" as const } };
  return {
    title: text,
    askedBy: who,
    via: text,
    onTimeout: { do: "default", answer: text },
    dueAt: "2026-01-02T00:00:00.000Z" as typeof NOON,
    claim: { by: who, at: NOON },
    to: [text],
    comments: [{ by: who, at: NOON, text }],
    amendments: [said],
    snoozedUntil: "2026-01-01T20:00:00.000Z" as typeof NOON,
    confidence: 0.5,
    risk: "medium",
  };
}

function reach(text: string): Pick<Person, "name" | "email" | "slack" | "github"> {
  return { name: text.slice(0, 200), email: text.slice(0, 320), slack: text.slice(0, 64), github: text.slice(0, 64) };
}
