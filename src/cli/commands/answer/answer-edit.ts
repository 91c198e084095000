import type { Read } from "../../../core/changes.ts";
import { requirePending } from "../../../core/question/require-pending.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Written, belowMarker, readWritten, renderTemplate } from "./answer-template.ts";
import type { Context } from "../../context.ts";
import { draftFile, findDraft, keepDraft, removeDraft } from "./answer-draft.ts";
import { editFile, findEditor } from "../../terminal/editor.ts";
import { findText } from "../../../agents/process/private-file.ts";
import { argumentOf } from "../../wording.ts";

/** The editor of this person, or what to set. */
export function getEditor(context: Pick<Context, "env">): string[] {
  const editor = findEditor(context.env);
  if (editor && editor.length > 0) return editor;
  throw new Refusal("bad_input", "No editor is chosen", { hint: "Set EDITOR, for example: EDITOR=nano" });
}

/** Lets a person write the answer in their editor. What they write is kept until it is taken. */
export async function editAnswer(read: Read, isForced: boolean, context: Context): Promise<Written> {
  if (!isForced) requirePending(read, context.now());
  const text = await editText(read, "", context);
  if (text === "") {
    await removeDraft(context, read.question.id);
    throw new Refusal("empty_answer", "Response cannot be empty", {
      hint: "Nothing was written, so nothing was recorded",
    });
  }
  return readWritten(read.content.items, text);
}

/** What stands below the line when the editor is closed; it opens with what was written before. */
export async function editText(read: Read, written: string, context: Context): Promise<string> {
  const editor = getEditor(context);
  const { id } = read.question;
  const kept = await findDraft(context, id);
  const template = renderTemplate(read);
  const before = kept === undefined ? "" : belowMarker(kept, template);
  if (before !== "" && written === "") context.stderr.write("What you wrote before is still there.\n");
  const file = await keepDraft(context, id, renderTemplate(read, written || before));
  if (!(await editFile(file, editor, context))) {
    throw new Refusal("bad_input", "The editor did not end well; nothing was changed", {
      hint: `What you saved is kept: ${context.program} answer ${argumentOf(read.run)} --edit`,
    });
  }
  return belowMarker((await findText(file)) ?? "", template);
}

/** Says where somebody's words are when the answer was refused. */
export async function withDraft(error: unknown, { question }: Read, context: Context): Promise<unknown> {
  if (!(error instanceof Refusal) || (await findDraft(context, question.id)) === undefined) return error;
  const hint = [error.hint, `What you wrote is kept in ${draftFile(context, question.id)}`];
  return new Refusal(error.code, error.message, {
    hint: hint.filter((line) => line !== undefined).join("\n  "),
    cause: error,
  });
}
