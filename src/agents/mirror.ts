import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Content, Item } from "../core/content.ts";
import { isPending, type Question } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import { isCode, replaceFile } from "./private-file.ts";

/** A run as `state.json` shows it to scripts. */
export interface MirroredState {
  status: string;
  session_id: string | null;
  pending_question: { question: string; context: string; options: string[]; asked_at: string } | null;
}

/** What was asked last, with its content. */
export interface MirroredQuestion {
  question: Question;
  content: Content;
}

/** What `state.json` says of a run and the question that it asked last. */
export function mirroredState(run: Run, asked: MirroredQuestion | undefined): MirroredState {
  return {
    status: run.status === "awaiting_input" ? "waiting_input" : run.status,
    session_id: run.session ?? null,
    pending_question: asked && isPending(asked.question) ? mirroredQuestion(asked) : null,
  };
}

/** Writes `.askd/runs/<number>/state.json` into the directory of a run; readers see the old or the new one, whole. */
export async function writeMirror(dir: string, number: number, state: MirroredState): Promise<void> {
  let folder = dir;
  for (const name of [".askd", "runs", String(number)]) {
    folder = join(folder, name);
    await makeFolder(folder);
  }
  await replaceFile(join(folder, "state.json"), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** What the agent works in is not ours: a link there could lead our file anywhere, so none is followed. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is not a folder; nothing was written`);
}

function mirroredQuestion({ question, content }: MirroredQuestion): MirroredState["pending_question"] {
  const { items, context } = content.shared ?? content;
  const [only] = items.length === 1 ? items : [];
  return {
    question: only ? only.text : items.map(sayItem).join("\n"),
    context: context ?? "",
    options: only ? only.options.map(({ label }) => label) : [],
    asked_at: question.askedAt,
  };
}

/** One of several items in a line, with its own options. */
function sayItem(item: Item, index: number): string {
  const options = item.options.map(({ label }) => label).join(", ");
  return `${index + 1}. ${item.text}${options === "" ? "" : ` (${options})`}`;
}
