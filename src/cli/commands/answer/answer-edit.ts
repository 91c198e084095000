import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { requirePending } from "../../../core/question/require-pending.ts";
import { Refusal } from "../../../core/refusal.ts";
import { findFileText, replacePrivateFile } from "../../../agents/process/private-file.ts";
import { type AnswerInput, plainAnswerInput } from "../../../core/answer/answer-input.ts";
import type { Item } from "../../../core/question/content.ts";
import { matchAnswer } from "../../../core/answer/match.ts";
import { DEFAULT_LIMITS } from "../../../core/rules.ts";
import type { Context } from "../../context.ts";
import { editFile, findEditor } from "../../terminal/editor.ts";
import { answerArgument } from "../../view/run-text.ts";
import { sanitise } from "../../view/sanitise.ts";
import { sayChoices } from "../../view/question-text.ts";

const MARKER = "## Your Response (write below this line)";

/** The written answer, as the engine takes it. */
type WrittenAnswer = Pick<AnswerInput, "answer" | "note">;

type EditContext = Pick<Context, "place">;

/** The person's editor; refuses with the variable to set if there is none. */
export function getEditor(context: Pick<Context, "env">): string[] {
  const editor = findEditor(context.env);
  if (editor && editor.length > 0) return editor;
  throw new Refusal("bad_input", "No editor is set", { hint: "Set EDITOR, for example: EDITOR=nano" });
}

/** Lets a person write the answer in their editor. The draft is kept until it is accepted. */
export async function editAnswer(read: QuestionSnapshot, isForced: boolean, context: Context): Promise<WrittenAnswer> {
  if (!isForced) requirePending(read, { now: context.now() });
  const kept = await findDraft(context, read.question.id);
  const text = await editText(read, "", context);
  if (text === "") {
    await removeDraft(context, read.question.id);
    throw new Refusal("empty_answer", "Response cannot be empty", {
      hint: "You wrote nothing, so nothing was recorded",
    });
  }
  // Other programs of this user can write a draft too: it counts when somebody has changed it.
  if (kept !== undefined && text === belowMarker(kept, renderTemplate(read))) {
    throw new Refusal("empty_answer", "The earlier draft was not changed, so nothing was recorded", {
      hint: `Change it, or answer with: ${context.program} answer ${answerArgument(read)} "…"`,
    });
  }
  return readWritten(read.content.items, text);
}

/** The text below the marker when the editor closes; it opens with the earlier draft. */
export async function editText(read: QuestionSnapshot, written: string, context: Context): Promise<string> {
  const editor = getEditor(context);
  const { id } = read.question;
  const kept = await findDraft(context, id);
  const template = renderTemplate(read);
  const before = kept === undefined ? "" : belowMarker(kept, template);
  if (before !== "" && written === "") context.stderr.write("Your earlier draft is still there.\n");
  const file = await keepDraft(context, id, renderTemplate(read, written || before));
  if (!(await editFile(file, editor, context))) {
    throw new Refusal("bad_input", "The editor failed; nothing was changed", {
      hint: `Your saved text is kept. Continue: ${context.program} answer ${answerArgument(read)} --edit`,
    });
  }
  return belowMarker((await findFileText(file)) ?? "", template);
}

/** Adds to a refusal where the draft is kept. */
export async function withDraft(error: unknown, { question }: QuestionSnapshot, context: Context): Promise<unknown> {
  if (!(error instanceof Refusal) || (await findDraft(context, question.id)) === undefined) return error;
  const hint = [error.hint, `Your text is kept in ${draftFile(context, question.id)}`];
  return new Refusal(error.code, error.message, {
    hint: hint.filter((line) => line !== undefined).join("\n  "),
    cause: error,
  });
}

/** The text that the editor opens with: the question, the marker, and the earlier draft. */
export function renderTemplate({ run, content }: QuestionSnapshot, written = ""): string {
  const asked = content.items.flatMap((item) => [
    item.header === undefined ? foreign(item.text) : `${foreign(item.header)}: ${foreign(item.text)}`,
    ...(item.options.length > 0 ? [sayChoices(item)] : []),
  ]);
  const several = content.items.length > 1 ? ["# One line for each of them:", ...namesOf(content.items), ""] : [];
  return [
    `# Response to: ${foreign(run.name)}`,
    "",
    "## Question",
    ...asked,
    "",
    ...(content.context ? ["## Context", foreign(content.context), ""] : []),
    ...several,
    MARKER,
    "",
    written === "" ? "" : `${written}\n`,
  ].join("\n");
}

/**
 * The answer is the text below the marker, word for word. Without the marker it is everything that was not
 * there before.
 */
function belowMarker(text: string, template: string) {
  const plain = text.replaceAll("\r\n", "\n");
  const lines = plain.split("\n");
  const at = lines.findIndex((line) => line.trimEnd() === MARKER);
  if (at >= 0)
    return lines
      .slice(at + 1)
      .join("\n")
      .trim();
  const given = new Set(template.split("\n"));
  return lines
    .filter((line) => !line.startsWith("#") && !given.has(line))
    .join("\n")
    .trim();
}

/** If the first line names an option, it is the answer and the rest is the note; else all of it is the answer. */
function readWritten(items: readonly Item[], text: string) {
  const [only, ...others] = items;
  const [first = "", ...rest] = text.split("\n");
  const note = rest.join("\n").trim();
  if (!only || others.length > 0 || note === "" || !chooses(only, first)) return { answer: text };
  return { answer: first.trim(), note };
}

function chooses(item: Item, line: string) {
  if (item.options.length === 0 || item.schema) return false;
  try {
    matchAnswer({ items: [{ ...item, allowText: false }] }, plainAnswerInput(line.trim()), DEFAULT_LIMITS);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function namesOf(items: readonly Item[]) {
  return items.map((item, index) => `#   ${sanitise(item.header ?? String(index + 1)).replaceAll("\n", " ")}: …`);
}

/** Makes foreign text that cannot pass for our marker. */
function foreign(text: string) {
  return sanitise(text).replace(/^(?=## Your Response)/gm, " ");
}

/**
 * The file of a draft. The editor works on this file, so that the text
 * survives a crash of the editor or of this program.
 */
export function draftFile({ place }: EditContext, name: string): string {
  return join(place.stateDir, "drafts", `${name}.md`);
}

/** A draft that was never sent. */
export function findDraft(around: EditContext, name: string): Promise<string | undefined> {
  return findFileText(draftFile(around, name));
}

/** Saves a draft that only this user can read, and returns its file. */
export async function keepDraft(around: EditContext, name: string, text: string): Promise<string> {
  const file = draftFile(around, name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replacePrivateFile(file, text);
  return file;
}

/** Deletes a draft that was sent or left empty. */
export async function removeDraft(around: EditContext, name: string): Promise<void> {
  await rm(draftFile(around, name), { force: true });
}
