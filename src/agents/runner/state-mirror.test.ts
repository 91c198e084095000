import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { aContent, answered, aQuestion, aRun, NOON } from "../../../test/builders.ts";
import type { RunStatus } from "../../core/run/run.ts";
import { mirroredState, writeMirror } from "./state-mirror.ts";

const PARKED = aRun({ status: "awaiting_input", session: "abc123" });
const STATE = mirroredState(PARKED, undefined);

function aFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-mirror-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("a parked run has the shape that scripts know", () => {
  const content = { ...aContent("Redis or Memcached?"), context: "Both are there." };
  expect(mirroredState(PARKED, { question: aQuestion(), content })).toEqual({
    status: "waiting_input",
    session_id: "abc123",
    pending_question: {
      question: "Redis or Memcached?",
      context: "Both are there.",
      options: ["Redis", "Memcached"],
      asked_at: NOON,
    },
  });
});

test("several items are one text, and secrets are left out of it", () => {
  const [item] = aContent("Which cache?").items;
  const other = { ...item!, id: "q2", text: "Name?", options: [] };
  const content = { ...aContent("token abc"), shared: { items: [item!, other], context: undefined } };
  expect(mirroredState(PARKED, { question: aQuestion(), content }).pending_question).toEqual({
    question: "1. Which cache? (Redis, Memcached)\n2. Name?",
    context: "",
    options: [],
    asked_at: NOON,
  });
});

test("a question that was answered is not pending any more", () => {
  const asked = { question: answered(aQuestion()), content: aContent() };
  expect(mirroredState(aRun({ status: "resuming" }), asked)).toEqual({
    status: "resuming",
    session_id: null,
    pending_question: null,
  });
});

test.each(["running", "completed", "failed"] satisfies RunStatus[])("a run that is %s says so", (status) => {
  expect(mirroredState(aRun({ status }), undefined).status).toBe(status);
});

test("each state takes the place of the one before, whole, for this user only", async () => {
  const dir = aFolder();
  const file = join(dir, ".askd", "runs", "42", "state.json");
  await Promise.all(Array.from({ length: 20 }, () => writeMirror(dir, 42, STATE)));
  await writeMirror(dir, 42, { ...STATE, status: "running" });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ ...STATE, status: "running" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(dir, ".askd", "runs", "42"))).toEqual(["state.json"]);
});

test.each([".askd", ".askd/runs", ".askd/runs/42"])("a link at %s is not followed", async (path) => {
  const [dir, elsewhere] = [aFolder(), aFolder()];
  mkdirSync(join(dir, path, ".."), { recursive: true });
  symlinkSync(elsewhere, join(dir, path));
  await expect(writeMirror(dir, 42, STATE)).rejects.toThrow(/nothing was written/);
  expect(readdirSync(elsewhere)).toEqual([]);
});
