import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { listRunProcesses } from "../../src/agents/process/process-list.ts";
import { type Question, findAnswer } from "../../src/core/question/question.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Ledger } from "./walk/ledger.ts";
import type { Line } from "./walk/notes.ts";
import { judgeRun } from "./walk/verdict.ts";

const Note = z.looseObject({
  is: z.string(),
  pid: z.int(),
  epoch: z.int().optional(),
  hook: z.int().optional(),
  /** Other agents of the run that were alive when this one started, and what earlier ones had left behind. */
  agents: z.array(z.int()).default([]),
  left: z.array(z.int()).default([]),
});
const Block = z.looseObject({
  type: z.string(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().default(false),
});
const RecordLine = z.looseObject({
  type: z.string(),
  message: z.looseObject({ content: z.union([z.string(), z.array(Block)]) }).optional(),
});

export interface Expected {
  status: Run["status"];
  mayAskNothing: boolean;
}

/** Looks at what a run left behind: one line for each promise that was broken. */
export async function checkRun(engine: Engine, run: Run, root: string, expected: Expected): Promise<string[]> {
  const notes = readNotes(root);
  const strays = await listRunProcesses(run.id);
  const questions = await engine.listQuestions({ runId: run.id, order: "oldest", limit: 100 });
  const record = readRecord(join(root, "home", ".claude", "projects"));
  const epochs = notes.flatMap((note) => note.epoch ?? []);
  return [
    ...(run.status === expected.status ? [] : [`the run is ${run.status} (${run.reason ?? "no reason"})`]),
    ...(run.worker === undefined ? [] : [`worker ${run.worker} still has the run`]),
    ...notes.flatMap(({ pid, agents }) => agents.map((other) => `agent ${pid} was started while ${other} was alive`)),
    ...notes.flatMap(({ pid, left }) => left.map((other) => `agent ${pid} was started while ${other} was left behind`)),
    ...(epochs.every((epoch, index) => index === 0 || epoch > (epochs[index - 1] ?? 0))
      ? []
      : [`agents were started in the epochs ${epochs.join(", ")}`]),
    ...strays.map(({ pid, name, epoch }) => `process ${pid} (${name}) of epoch ${epoch} was left behind`),
    ...(expected.status === "completed" ? checkAnswers(questions, run, record, expected) : []),
  ];
}

/** Holds the account of a scripted agent against the rows: one line for each promise that was broken. */
export async function checkScripted(engine: Engine, run: Run, lines: readonly Line[]): Promise<string[]> {
  const questions = await engine.listQuestions({ runId: run.id, order: "oldest", limit: 100 });
  const events = (await engine.readChain(run.id)).map(({ event }) => event);
  const ledger = new Ledger();
  judgeRun({ kept: { run, questions, events }, lines, heard: [], asks: new Map() }, ledger);
  const strays = await listRunProcesses(run.id);
  return [
    ...ledger.faults.map(({ kind, detail }) => `${kind}: ${detail}`),
    ...(run.worker === undefined ? [] : [`worker ${run.worker} still has the run`]),
    ...strays.map(({ pid, name, epoch }) => `process ${pid} (${name}) of epoch ${epoch} was left behind`),
  ];
}

function checkAnswers(
  questions: readonly Question[],
  run: Run,
  record: ReadonlyArray<z.infer<typeof RecordLine>>,
  { mayAskNothing }: Expected,
): string[] {
  if (questions.length === 0) return mayAskNothing ? [] : ["nothing was asked"];
  return questions.flatMap((question) => checkQuestion(question, run, record));
}

/** What the stand-in wrote down about itself. */
export function readNotes(root: string): Array<z.infer<typeof Note>> {
  return readLines(join(root, "journal")).map((line) => Note.parse(line));
}

/** The agent's own record shows an answer once: in one message to its model, or as the result of its call. */
function checkQuestion(question: Question, run: Run, record: ReadonlyArray<z.infer<typeof RecordLine>>): string[] {
  const answer = findAnswer(question);
  if (!answer) return [`${question.id} is ${question.status}`];
  const callId = question.key.slice(question.key.indexOf(":") + 1);
  const shown = record.flatMap(({ type, message }) => {
    if (type !== "user" || !message) return [];
    if (typeof message.content === "string") return message.content.includes(answer.id) ? ["message"] : [];
    return message.content.flatMap((block) => (block.tool_use_id === callId && !block.is_error ? ["result"] : []));
  });
  const { handover } = question.status === "pending" ? { handover: undefined } : question;
  return [
    ...(shown.length === 1 ? [] : [`the answer was shown ${shown.length} times: ${shown.join(", ")}`]),
    ...(handover?.state === "given" ? [] : [`the answer is ${handover?.state} after run ${run.status}`]),
  ];
}

function readRecord(root: string): Array<z.infer<typeof RecordLine>> {
  if (!existsSync(root)) return [];
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return files.flatMap((name) => readLines(join(root, name))).map((line) => RecordLine.parse(line));
}

function readLines(file: string): unknown[] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));
}
