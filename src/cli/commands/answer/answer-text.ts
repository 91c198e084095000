import type { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import { readChoices } from "../../../core/choice.ts";
import { sayOptions } from "../../../core/answer/match.ts";
import { Refusal } from "../../../core/refusal.ts";
import { fillTemplate } from "../../../core/answer/template.ts";
import type { AnswerValues } from "./answer.ts";
import type { Context } from "../../context.ts";
import { readGiven } from "../../terminal/read-file-arg.ts";
import { sanitise } from "../../view/sanitise.ts";
import { argumentOf, offersOther, sayChoices } from "../../wording.ts";

const ANSWER_BYTES = 1024 * 1024;

/** What says a whole answer; a template tells by itself what goes with it. */
const WAYS = ["choose", "file", "edit", "decide", "clarify"] as const;

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
  if (word !== undefined) return { answer: requireNumber(read, word) };
  if (flags.file !== undefined) {
    const text = flags.file === "-" ? await context.stdin.readAll(ANSWER_BYTES) : await readGiven(flags.file, context);
    return { answer: text.trim() };
  }
  if (flags.edit) return edit(read, flags, context);
  if (flags.message !== undefined) return { answer: flags.message, note: undefined };
  return promptAnswer(read, flags, context);
}

/** Ways to say something that would drop one another are not guessed at. */
export function requireOneWay(word: string | undefined, flags: AnswerValues): void {
  const ways = [
    ...(word === undefined ? [] : ["an answer"]),
    ...WAYS.filter((name) => flags[name] !== undefined).map((name) => `--${name}`),
  ];
  if (ways.length < 2) return;
  throw new Refusal("bad_input", `${ways.join(" and ")} exclude each other`, {
    hint: "Give one of them. A note beside it: -m <text>",
  });
}

/** The number of "Other" stands for words that are still to come, and one beyond it for nothing. */
function requireNumber({ content, run }: Read, word: string): string {
  const [only, ...others] = content.items;
  const number = word.trim();
  if (!only || others.length > 0 || !offersOther(only) || !/^\d+$/.test(number)) return word;
  const isNamed = only.options.some(({ value, label }) => /^\d/.test(value) || /^\d/.test(label));
  const otherNumber = only.options.length + 1;
  if (Number(number) < otherNumber || (isNamed && Number(number) !== otherNumber)) return word;
  const hint = `askd answer ${argumentOf(run)} "…", or -m ${number} if that is the answer`;
  if (Number(number) > otherNumber) {
    throw new Refusal("no_such_option", `There is no option ${number}; choose ${sayOptions(only)}`, { hint });
  }
  throw new Refusal("empty_answer", `${number} stands for an answer of your own; write it`, { hint });
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
  const { getTemplate } = await import("../setup/template.ts");
  const filled = fillTemplate(await getTemplate(await context.engine(), name), read);
  const notes = [filled.note, message].filter((note) => note !== undefined);
  return { ...filled, note: notes.length > 0 ? notes.join("\n") : undefined, template: name };
}

/** Without words on a terminal: the question is shown, and the editor opens, or a line can be typed. */
async function promptAnswer(read: Read, flags: AnswerValues, context: Context): Promise<Said> {
  if (!context.mayPrompt) return { answer: "" }; // refused as empty, with what can be chosen
  const { findEditor } = await import("../../terminal/editor.ts");
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
