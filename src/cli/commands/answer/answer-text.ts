import { type AnswerInput, readChoices } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { describeOptions } from "../../../core/answer/match.ts";
import { Refusal } from "../../../core/refusal.ts";
import { fillTemplate } from "../../../core/answer/template.ts";
import type { AnswerValues } from "./answer.ts";
import type { Context } from "../../context.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { sanitise } from "../../view/sanitise.ts";
import { offersOther, sayChoices } from "../../view/question-text.ts";
import { argumentOf } from "../../view/run-text.ts";

const ANSWER_BYTES = 1024 * 1024;

/** Flags that give a whole answer; `--use` checks by itself what may accompany it. */
const WAYS = ["choose", "file", "edit", "decide", "clarify"] as const;

type Said = Partial<Pick<AnswerInput, "answer" | "items" | "verbatim" | "note" | "template">>;

/** Reads the answer from the command line, a file, the editor or a prompt. */
export async function readAnswer(
  read: QuestionSnapshot,
  word: string | undefined,
  flags: AnswerValues,
  context: Context,
): Promise<Said> {
  if (flags.use !== undefined) return useTemplate(flags.use, read, [word, flags], context);
  if (flags.choose) return { items: readChoices(read.content, flags.choose) };
  if (word !== undefined) return { answer: requireNumber(read, word) };
  if (flags.file !== undefined) {
    const text =
      flags.file === "-" ? await context.stdin.readAll(ANSWER_BYTES) : await readFileArg(flags.file, context);
    return { answer: text.trim() };
  }
  if (flags.edit) return edit(read, flags, context);
  if (flags.message !== undefined) return { answer: flags.message, verbatim: true, note: undefined };
  return promptAnswer(read, flags, context);
}

/** Refuses two sources for one answer. */
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

/** Refuses the number of "Other", which needs a text, and numbers beyond it. */
function requireNumber({ content, run }: QuestionSnapshot, word: string): string {
  const [only, ...others] = content.items;
  const number = word.trim();
  if (!only || others.length > 0 || !offersOther(only) || !/^\d+$/.test(number)) return word;
  const isNamed = only.options.some(({ value, label }) => /^\d/.test(value) || /^\d/.test(label));
  const otherNumber = only.options.length + 1;
  if (Number(number) < otherNumber || (isNamed && Number(number) !== otherNumber)) return word;
  const hint = `askd answer ${argumentOf(run)} "…", or -m ${number} if that is the answer`;
  if (Number(number) > otherNumber) {
    throw new Refusal("no_such_option", `There is no option ${number}; choose ${describeOptions(only)}`, { hint });
  }
  throw new Refusal("empty_answer", `Option ${number} needs an answer in your own words`, { hint });
}

/** An answer from a template; `-m` adds a note. */
async function useTemplate(
  name: string,
  read: QuestionSnapshot,
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

/** Shows the question on a terminal and opens the editor, or reads one line. */
async function promptAnswer(read: QuestionSnapshot, flags: AnswerValues, context: Context): Promise<Said> {
  if (!context.mayPrompt) return { answer: "" }; // the engine refuses it and lists the options
  const { findEditor } = await import("../../terminal/editor.ts");
  context.stderr.write(`\n${renderQuestion(read)}\n\n`);
  if (findEditor(context.env)) return edit(read, flags, context);
  context.stderr.write("Your answer: ");
  return { answer: (await context.stdin.readLine(context.interrupt())) ?? "" };
}

async function edit(read: QuestionSnapshot, flags: AnswerValues, context: Context): Promise<Said> {
  const { editAnswer } = await import("./answer-edit.ts");
  const { note, ...said } = await editAnswer(read, flags.force ?? false, context);
  const notes = [note, flags.message].filter((each) => each !== undefined);
  return { ...said, note: notes.length > 0 ? notes.join("\n") : undefined };
}

/** The question with its context and choices, as text. */
export function renderQuestion({ content }: QuestionSnapshot): string {
  return [
    ...content.items.flatMap((item) => [
      `Question: ${sanitise(item.text)}`,
      ...(item.options.length > 0 ? [`  ${sayChoices(item)}`] : []),
    ]),
    ...(content.context ? ["", "Context:", sanitise(content.context)] : []),
  ].join("\n");
}
