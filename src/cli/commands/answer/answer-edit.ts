import type { QuestionSnapshot } from "../../../core/changes.ts";
import { requirePending } from "../../../core/question/require-pending.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type WrittenAnswer, belowMarker, readWritten, renderTemplate } from "./answer-template.ts";
import type { Context } from "../../context.ts";
import { draftFile, findDraft, keepDraft, removeDraft } from "./answer-draft.ts";
import { editFile, findEditor } from "../../terminal/editor.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { argumentOf } from "../../view/run-text.ts";

/** The person's editor; refuses with the variable to set if there is none. */
export function getEditor(context: Pick<Context, "env">): string[] {
  const editor = findEditor(context.env);
  if (editor && editor.length > 0) return editor;
  throw new Refusal("bad_input", "No editor is set", { hint: "Set EDITOR, for example: EDITOR=nano" });
}

/** Lets a person write the answer in their editor. The draft is kept until it is accepted. */
export async function editAnswer(read: QuestionSnapshot, isForced: boolean, context: Context): Promise<WrittenAnswer> {
  if (!isForced) requirePending(read, context.now());
  const text = await editText(read, "", context);
  if (text === "") {
    await removeDraft(context, read.question.id);
    throw new Refusal("empty_answer", "Response cannot be empty", {
      hint: "You wrote nothing, so nothing was recorded",
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
      hint: `Your saved text is kept. Continue: ${context.program} answer ${argumentOf(read.run)} --edit`,
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
