import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Content, Item } from "../../core/question/content.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { isPending, type Question } from "../../core/question/question.ts";
import { type Run, findAgentSession } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import { replacePrivateFile } from "../process/private-file.ts";
import { hasErrorCode } from "../../core/error-code.ts";

/** A run that changes faster than its file is written is mirrored by the last process that changes it. */
const MOST_TURNS = 5;

/** The content of `state.json`. */
export interface MirroredState {
  status: string;
  session_id: string | null;
  pending_question: { question: string; context: string; options: string[]; asked_at: string } | null;
}

/** The last question, with its content. */
export interface MirroredQuestion {
  question: Question;
  content: Content;
}

/** Builds `state.json` from a run and its last question. */
export function mirroredState(run: Run, asked: MirroredQuestion | undefined): MirroredState {
  return {
    status: run.status === "awaiting_input" ? "waiting_input" : run.status,
    session_id: findAgentSession(run) ?? null,
    pending_question: asked && isPending(asked.question) ? mirroredQuestion(asked) : null,
  };
}

/** The source of a run and its question. */
export interface MirrorSource {
  findRun(id: RunId): Promise<Run | undefined>;
  findAsked(id: QuestionId): Promise<MirroredQuestion | undefined>;
}

export function storeMirrorSource(store: Pick<Store, "findRun" | "findQuestion" | "findContent">): MirrorSource {
  return {
    findRun: (id) => store.findRun(id),
    findAsked: async (id) => {
      const question = await store.findQuestion(id);
      const content = question && (await store.findContent(question.content));
      return question && content && { question, content };
    },
  };
}

export function engineMirrorSource(engine: Pick<Engine, "findRun" | "read">): MirrorSource {
  return { findRun: (id) => engine.findRun(id), findAsked: (id) => engine.read(id) };
}

/** Updates the `state.json` of a run that has a directory. */
export async function mirrorRun(source: MirrorSource, id: RunId): Promise<void> {
  let written: number | undefined;
  // Other processes write it too: a process that finds a newer run after its write writes again, so that the newest
  // stays.
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const run = await source.findRun(id);
    if (run?.dir === undefined || run.version === written) return;
    const asked = run.pendingId && (await source.findAsked(run.pendingId));
    try {
      await writeMirror(run.dir, run.number, mirroredState(run, asked || undefined));
    } catch (error) {
      if (hasErrorCode(error, "ENOENT")) return; // the directory is gone, and its readers with it
      throw error;
    }
    written = run.version;
  }
}

/** Like `mirrorRun`, but only notes a failure. */
export async function mirrorRunOrNote(store: Store, id: RunId, note: (text: string) => void): Promise<void> {
  await mirrorRun(storeMirrorSource(store), id).catch((error: unknown) => {
    note(`state.json was not written: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** Writes `.askd/runs/<number>/state.json` in the directory of a run atomically. */
export async function writeMirror(dir: string, number: number, state: MirroredState): Promise<void> {
  let folder = dir;
  for (const name of [".askd", "runs", String(number)]) {
    folder = join(folder, name);
    await makeFolder(folder);
  }
  await replacePrivateFile(join(folder, "state.json"), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Creates a folder without following links: the agent could link it anywhere. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is not a folder; nothing was written`);
}

function mirroredQuestion({ question, content }: MirroredQuestion): MirroredState["pending_question"] {
  const { items, context } = content.shared ?? content;
  const [only] = items.length === 1 ? items : [];
  return {
    question: only ? only.text : items.map(itemLine).join("\n"),
    context: context ?? "",
    options: only ? only.options.map(({ label }) => label) : [],
    asked_at: question.askedAt,
  };
}

/** One of several items in a line, with its own options. */
function itemLine(item: Item, index: number): string {
  const options = item.options.map(({ label }) => label).join(", ");
  return `${index + 1}. ${item.text}${options === "" ? "" : ` (${options})`}`;
}
