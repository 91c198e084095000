import { findFileText } from "../../../agents/process/private-file.ts";
import type { Actor } from "../../../core/people/actor.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { requireAccess } from "../../../core/people/access.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import type { Context } from "../../context.ts";
import { editFile } from "../../terminal/editor.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { choicesOf, findDeadline } from "../../view/question-text.ts";
import { refOf } from "../../view/run-text.ts";
import { QuestionQueue } from "../next/question-queue.ts";
import type { QuestionPredicate } from "../inspect/question-filter.ts";
import type { QuestionCard } from "../next/next-state.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { getEditor, draftFile, findDraft, keepDraft, removeDraft } from "./answer-edit.ts";
import { sayAnswered, hasHolderEnded } from "./answer-view.ts";

const DRAFT = "all";

interface Work {
  engine: Engine;
  context: Context;
  by: Actor;
  resume: boolean;
}

/** The answer to one question in the file; a field that was left empty is "". */
interface AnswerFileEntry {
  answer: string;
  note: string;
  /** The word that confirms a high-risk answer. */
  confirm: string;
  /** Why the answer was refused the last time. */
  problem?: string;
}

type Entries = ReadonlyMap<QuestionId, AnswerFileEntry>;

const FIELDS = ["answer", "note", "confirm"] as const;
const EMPTY: AnswerFileEntry = { answer: "", note: "", confirm: "" };

/** Lets a person answer all waiting questions in one file. Refused answers come back with the reason. */
export async function editAll(
  given: { wanted: QuestionPredicate; resume: boolean },
  engine: Engine,
  context: Context,
): Promise<number> {
  const editor = getEditor(context);
  const work: Work = { engine, context, by: await whoTypes(engine, context), resume: given.resume };
  // Before the editor opens: the text of an agent would be kept as this person's draft.
  if (work.by.scope === "agent") requireAccess("answer", work.by);
  const { cards, now } = await new QuestionQueue(engine, given.wanted).read(context.user);
  if (cards.length === 0) {
    context.stdout.write("Nothing is waiting for you.\n");
    return 0;
  }
  const kept = await findDraft(context, DRAFT);
  let open: readonly QuestionCard[] = cards;
  const drafts = kept === undefined ? new Map<QuestionId, AnswerFileEntry>() : draftsIn(parseAll(kept, cards));
  if (drafts.size > 0)
    context.stderr.write("Your earlier draft is still there. Answers that you leave as they are in it are not sent.\n");
  let text = renderAll(cards, drafts, now);
  let answered = 0;
  for (;;) {
    const file = await keepDraft(context, DRAFT, text);
    if (!(await editFile(file, editor, context))) throw notWell(context);
    const written = (await findFileText(file)) ?? "";
    const entries = new Map([...parseAll(written, open)].filter(([id, entry]) => !isSameAnswer(entry, drafts.get(id))));
    drafts.clear(); // answers that are refused now were written by the person who reads why
    const taken = await takeAll(open, entries, work);
    answered += taken.answered;
    if (taken.left.size === 0) return leave({ answered, left: 0 }, cards, context);
    // A file closed without changes means that the person has read the reasons and is done.
    open = open.filter(({ read }) => taken.left.has(read.question.id));
    const again = renderAll(open, taken.left, now);
    if (again === written) return leave({ answered, left: taken.left.size }, cards, context);
    text = again;
  }
}

/**
 * The answers of an earlier draft. Other programs of this user can write the file too, so no draft confirms anything,
 * and none is sent before somebody has changed it.
 */
function draftsIn(entries: Entries): Map<QuestionId, AnswerFileEntry> {
  return new Map(
    [...entries].filter(([, { answer }]) => answer !== "").map(([id, entry]) => [id, { ...entry, confirm: "" }]),
  );
}

function isSameAnswer(entry: AnswerFileEntry, draft: AnswerFileEntry | undefined) {
  return draft !== undefined && entry.answer === draft.answer && entry.note === draft.note;
}

/** Sends the answers; keeps refused ones with the reason. */
async function takeAll(
  cards: readonly QuestionCard[],
  entries: Entries,
  work: Work,
): Promise<{ answered: number; left: Map<QuestionId, AnswerFileEntry> }> {
  const left = new Map<QuestionId, AnswerFileEntry>();
  let answered = 0;
  for (const card of cards) {
    const entry = entries.get(card.read.question.id);
    if (!entry || entry.answer === "") continue;
    try {
      answered += await take(card, entry, work);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const problem = [error.message, error.hint].filter(Boolean).join(". ");
      left.set(card.read.question.id, { ...entry, problem: oneLine(problem) });
    }
  }
  return { answered, left };
}

/** Sends one answer to all runs that asked the question; returns their number. */
async function take({ read, same }: QuestionCard, entry: AnswerFileEntry, work: Work) {
  const { context } = work;
  const confirmed =
    read.question.risk === "high" && entry.confirm === confirmationWord(read.question.title, read.run.name);
  const input = AnswerInput.parse({
    answer: entry.answer,
    note: entry.note || undefined,
    confirmed,
    resume: work.resume,
  });
  await give(read, input, work);
  let answered = 1;
  for (const other of same) {
    try {
      await give(other, input, work);
      answered += 1;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      context.stderr.write(`${shortId(other.question.id)}: ${oneLine(error.message)}\n`);
    }
  }
  return answered;
}

async function give(before: QuestionSnapshot, input: AnswerInput, { engine, context, by }: Work) {
  const isHolderGone = await hasHolderEnded(before.question);
  const after = await engine.answer(before.question.id, input, by);
  await removeDraft(context, before.question.id);
  const machines = await machinesFor(engine, [after.run], context);
  const wayOn = await findWayOnHere(after.run, context);
  if (!context.isQuiet)
    context.stdout.write(sayAnswered({ before, after, machines, wayOn, isHolderGone }, context.program));
  await afterChange(after, engine, context);
  await engine.doDue();
}

async function leave(
  { answered, left }: { answered: number; left: number },
  cards: readonly QuestionCard[],
  context: Context,
) {
  const asked = cards.reduce((sum, { same }) => sum + 1 + same.length, 0);
  const parts = [`${answered} answered`, `${Math.max(0, asked - answered - left)} skipped`];
  if (left > 0) parts.push(`${left} refused; your text is kept in ${draftFile(context, DRAFT)}`);
  else await removeDraft(context, DRAFT);
  if (!context.isQuiet) context.stderr.write(`${parts.join(", ")}\n`);
  return left > 0 ? EXIT_CODE.usage : 0;
}

function notWell(context: Context) {
  return new Refusal("bad_input", "The editor failed; nothing more was changed", {
    hint: `Your saved text is kept. Continue: ${context.program} answer --all --edit`,
  });
}

/** Renders one file for all waiting questions, with earlier entries in their places. */
export function renderAll(cards: readonly QuestionCard[], written: Entries, now: Instant): string {
  const ids = cards.map(({ read }) => read.question.id);
  const count = `${cards.length} ${cards.length === 1 ? "question is" : "questions are"} waiting.`;
  const blocks = cards.map((card) =>
    renderEntry(card, { ids, now, entry: written.get(card.read.question.id) ?? EMPTY }),
  );
  return [
    `# ${count} Write after "answer:", save and close.`,
    '# Empty means skip. Number, letter or label chooses; "note:" is passed on.',
    "# An answer may have several lines; it ends at note:, at the next question or at the end.",
    "",
    ...blocks,
  ].join("\n");
}

/** Parses the entries for the questions in the file. */
export function parseAll(text: string, cards: readonly QuestionCard[]): Map<QuestionId, AnswerFileEntry> {
  const ids = cards.map(({ read }) => read.question.id);
  const byName = new Map(ids.map((id) => [shortId(id, ids), id]));
  const entries = new Map<QuestionId, AnswerFileEntry>();
  let id: QuestionId | undefined;
  let field: (typeof FIELDS)[number] | undefined;
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    const named = byName.get(/^\[(q-\w+)\]/.exec(line)?.[1] ?? "");
    if (named !== undefined) {
      id = named;
      field = undefined;
      if (!entries.has(id)) entries.set(id, EMPTY);
      continue;
    }
    const start = /^(answer|note|confirm):\s?(.*)$/.exec(line);
    const next = FIELDS.find((name) => name === start?.[1]);
    if (id === undefined || (!next && !field)) continue;
    const entry: AnswerFileEntry = entries.get(id) ?? EMPTY;
    if (next) field = next;
    if (!field) continue;
    const before = next ? [] : [entry[field]];
    entries.set(id, { ...entry, [field]: [...before, next ? (start?.[2] ?? "") : line].join("\n") });
  }
  return new Map([...entries].map(([each, entry]) => [each, trimmed(entry)]));
}

function renderEntry(
  { read, same }: QuestionCard,
  { ids, now, entry }: { ids: readonly QuestionId[]; now: Instant; entry: AnswerFileEntry },
) {
  const { question, content } = read;
  const runs = [read, ...same].map(({ run }) =>
    run.externalId === undefined ? `#${run.number} ${oneLine(run.name)}` : refOf(run),
  );
  const who = same.length > 0 ? `${runs.length} runs ask this: ${runs.join(", ")}` : (runs[0] ?? "");
  const isRisky = question.risk === "high";
  return [
    `[${shortId(question.id, ids)}] ${[who, ...dueClause(read, now)].join(", ")}`,
    ...content.items.flatMap((item) => [
      ...indented(item.header === undefined || content.items.length === 1 ? item.text : `${item.header}: ${item.text}`),
      ...(item.options.length > 0 ? [`  ${numbered(choicesOf(item).slice(0, item.options.length))}`] : []),
    ]),
    ...(content.items.length > 1 ? ["  # One line for each: header: value"] : []),
    ...(isRisky
      ? [`  # High risk: write ${oneLine(confirmationWord(question.title, read.run.name))} after "confirm:"`]
      : []),
    ...(entry.problem === undefined ? [] : [`# error: ${oneLine(entry.problem)}`]),
    `answer:${entry.answer === "" ? "" : ` ${entry.answer}`}`,
    ...(entry.note === "" ? [] : [`note: ${entry.note}`]),
    ...(isRisky ? [`confirm:${entry.confirm === "" ? "" : ` ${entry.confirm}`}`] : []),
    "",
  ].join("\n");
}

function dueClause(read: QuestionSnapshot, now: Instant) {
  const deadline = findDeadline(read);
  if (!deadline) return [];
  const leftMs = msBetween(now, deadline.at);
  const then = deadline.then.replace(/^uses "(.*)"$/s, "uses $1");
  return [leftMs > 0 ? `due in ${formatDuration(leftMs)}` : "due now", `then ${then}`];
}

function numbered(choices: readonly string[]) {
  return choices.map((choice, index) => `${index + 1} ${choice}`).join("   ");
}

/** Indents foreign text, so that it cannot pass for one of our lines. */
function indented(text: string) {
  return sanitise(text)
    .trim()
    .split("\n")
    .map((line) => `  ${line}`);
}

function trimmed({ answer, note, confirm }: AnswerFileEntry): AnswerFileEntry {
  return { answer: answer.trim(), note: note.trim(), confirm: confirm.trim() };
}
