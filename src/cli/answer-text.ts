import type { AnswerInput } from "../core/answer-input.ts";
import type { Read } from "../core/changes.ts";
import { readChoices } from "../core/choice.ts";
import { Refusal } from "../core/refusal.ts";
import { fillTemplate } from "../core/template.ts";
import type { AnswerValues } from "./answer.ts";
import type { Context } from "./context.ts";
import { sanitise } from "./sanitise.ts";
import { argumentOf, offersOther, sayChoices } from "./wording.ts";

const ANSWER_BYTES = 1024 * 1024;

type Said = Partial<Pick<AnswerInput, "answer" | "items" | "note" | "template">>;

/** What the person says, from wherever they say it: the command line, a file, the editor, the prompt. */
export async function readAnswer(
  read: Read,
  word: string | undefined,
  flags: AnswerValues,
  context: Context,
): Promise<Said> {
  if (flags.use !== undefined) return useTemplate(flags.use, read, [word, flags], context);
  if (flags.choose) return { items: readChoices(read.content, flags.choose) };
  if (word !== undefined) return { answer: requireNotOther(read, word) };
  if (flags.file !== undefined) {
    const text = flags.file === "-" ? await context.stdin.readAll(ANSWER_BYTES) : await context.readFile(flags.file);
    return { answer: text.trim() };
  }
  if (flags.edit) return edit(read, flags, context);
  if (flags.message !== undefined) return { answer: flags.message, note: undefined };
  return promptAnswer(read, flags, context);
}

/** The number of "Other" stands for words that are still to come. */
function requireNotOther({ content, run }: Read, word: string): string {
  const [only, ...others] = content.items;
  const isOther = only && others.length === 0 && offersOther(only) && word.trim() === String(only.options.length + 1);
  if (!isOther) return word;
  throw new Refusal("empty_answer", `${word.trim()} stands for an answer of your own; write it`, {
    hint: `askd answer ${argumentOf(run)} "…", or -m ${word.trim()} if that is the answer`,
  });
}

/** A canned answer; what was typed beside it is its note. */
async function useTemplate(
  name: string,
  read: Read,
  [word, { choose, file, edit, message }]: [string | undefined, AnswerValues],
  context: Context,
): Promise<Said> {
  if (word !== undefined || choose || file !== undefined || edit) {
    throw new Refusal("bad_input", "A template is the whole answer", { hint: "Add a note to it with: -m <text>" });
  }
  const { getTemplate } = await import("./template.ts");
  const filled = fillTemplate(await getTemplate(await context.engine(), name), read);
  const notes = [filled.note, message].filter((note) => note !== undefined);
  return { ...filled, note: notes.length > 0 ? notes.join("\n") : undefined, template: name };
}

/** Without words on a terminal: the question is shown, and the editor opens, or a line can be typed. */
async function promptAnswer(read: Read, flags: AnswerValues, context: Context): Promise<Said> {
  if (!context.mayPrompt) return { answer: "" }; // refused as empty, with what can be chosen
  const { findEditor } = await import("./editor.ts");
  context.stderr.write(`\n${sayQuestion(read)}\n\n`);
  if (findEditor(context.env)) return edit(read, flags, context);
  context.stderr.write("Your answer: ");
  return { answer: (await context.stdin.readLine(context.interrupt())) ?? "" };
}

async function edit(read: Read, flags: AnswerValues, context: Context): Promise<Said> {
  const { editAnswer } = await import("./answer-edit.ts");
  const { note, ...said } = await editAnswer(read, flags.force ?? false, context);
  const notes = [note, flags.message].filter((each) => each !== undefined);
  return { ...said, ...(notes.length > 0 && { note: notes.join("\n") }) };
}

/** The question with its context and choices, as it is read before answering. */
export function sayQuestion({ content }: Read): string {
  return [
    ...content.items.flatMap((item) => [
      `Question: ${sanitise(item.text)}`,
      ...(item.options.length > 0 ? [`  ${sayChoices(item)}`] : []),
    ]),
    ...(content.context ? ["", "Context:", sanitise(content.context)] : []),
  ].join("\n");
}
