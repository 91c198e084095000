import { findFileText } from "../../../agents/process/private-file.ts";
import type { Actor } from "../../../core/people/actor.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { type Entries, type AnswerFileEntry, parseAll, renderAll } from "./answer-all-file.ts";
import { getEditor } from "./answer-edit.ts";
import { sayAnswered } from "./answer-view.ts";
import { hasHolderEnded } from "./answer-view.ts";
import type { Context } from "../../context.ts";
import { draftFile, findDraft, keepDraft, removeDraft } from "./answer-draft.ts";
import { editFile } from "../../terminal/editor.ts";
import { QuestionQueue } from "../next/question-queue.ts";
import type { QuestionPredicate } from "../inspect/question-filter.ts";
import type { QuestionCard } from "../next/next-state.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { machinesFor } from "../../view/machine-view.ts";

const DRAFT = "all";

interface Work {
  engine: Engine;
  context: Context;
  by: Actor;
  resume: boolean;
}

/** Lets a person answer all waiting questions in one file. Refused answers come back with the reason. */
export async function editAll(
  given: { wanted: QuestionPredicate; resume: boolean },
  engine: Engine,
  context: Context,
): Promise<number> {
  const editor = getEditor(context);
  const work: Work = { engine, context, by: await whoTypes(engine, context), resume: given.resume };
  const { cards, now } = await new QuestionQueue(engine, given.wanted).read(context.user);
  if (cards.length === 0) {
    context.stdout.write("Nothing is waiting for you.\n");
    return 0;
  }
  const kept = await findDraft(context, DRAFT);
  let open: readonly QuestionCard[] = cards;
  let text = renderAll(cards, kept === undefined ? new Map() : parseAll(kept, cards), now);
  let answered = 0;
  for (;;) {
    const file = await keepDraft(context, DRAFT, text);
    if (!(await editFile(file, editor, context))) throw notWell(context);
    const written = (await findFileText(file)) ?? "";
    const taken = await takeAll(open, parseAll(written, open), work);
    answered += taken.answered;
    if (taken.left.size === 0) return leave({ answered, left: 0 }, cards, context);
    // A file closed without changes means that the person has read the reasons and is done.
    open = open.filter(({ read }) => taken.left.has(read.question.id));
    const again = renderAll(open, taken.left, now);
    if (again === written) return leave({ answered, left: taken.left.size }, cards, context);
    text = again;
  }
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
async function take({ read, same }: QuestionCard, entry: AnswerFileEntry, work: Work): Promise<number> {
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

async function give(before: QuestionSnapshot, input: AnswerInput, { engine, context, by }: Work): Promise<void> {
  const isHolderGone = await hasHolderEnded(before.question);
  const after = await engine.answer(before.question.id, input, by);
  await removeDraft(context, before.question.id);
  const machines = await machinesFor(engine, [after.run], context);
  const wayOn = await findWayOnHere(after.run, context);
  if (!context.isQuiet)
    context.stdout.write(sayAnswered({ before, after, machines, wayOn, isHolderGone }, context.program));
  await afterChange(after.run, engine, context);
  await engine.doDue();
}

async function leave(
  { answered, left }: { answered: number; left: number },
  cards: readonly QuestionCard[],
  context: Context,
): Promise<number> {
  const asked = cards.reduce((sum, { same }) => sum + 1 + same.length, 0);
  const parts = [`${answered} answered`, `${Math.max(0, asked - answered - left)} skipped`];
  if (left > 0) parts.push(`${left} refused; your text is kept in ${draftFile(context, DRAFT)}`);
  else await removeDraft(context, DRAFT);
  if (!context.isQuiet) context.stderr.write(`${parts.join(", ")}\n`);
  return left > 0 ? EXIT_CODE.usage : 0;
}

function notWell(context: Context): Refusal {
  return new Refusal("bad_input", "The editor failed; nothing more was changed", {
    hint: `Your saved text is kept. Continue: ${context.program} answer --all --edit`,
  });
}
