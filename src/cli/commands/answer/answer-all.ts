import { findText } from "../../../agents/process/private-file.ts";
import type { Actor } from "../../../core/people/actor.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { wordToType } from "../../../core/risk-word.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { type Entries, type Entry, parseAll, renderAll } from "./answer-all-file.ts";
import { getEditor } from "./answer-edit.ts";
import { sayAnswered } from "./answer-view.ts";
import { findHolderGone } from "../../holder.ts";
import type { Context } from "../../context.ts";
import { draftFile, findDraft, keepDraft, removeDraft } from "./answer-draft.ts";
import { editFile } from "../../terminal/editor.ts";
import { Queue } from "../next/question-queue.ts";
import type { Wanted } from "../inspect/question-filter.ts";
import type { Card } from "../next/next-state.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { machinesFor } from "../../view/machine-view.ts";

const DRAFT = "all";
const EXIT_LEFT = 2;

interface Work {
  engine: Engine;
  context: Context;
  by: Actor;
  resume: boolean;
}

/** Lets a person answer everything that waits in one file. What cannot be taken comes back with the reason. */
export async function editAll(
  given: { wanted: Wanted; resume: boolean },
  engine: Engine,
  context: Context,
): Promise<number> {
  const editor = getEditor(context);
  const work: Work = { engine, context, by: await whoTypes(engine, context), resume: given.resume };
  const { cards, now } = await new Queue(engine, given.wanted).read(context.user);
  if (cards.length === 0) {
    context.stdout.write("Nothing is waiting for you.\n");
    return 0;
  }
  const kept = await findDraft(context, DRAFT);
  let open: readonly Card[] = cards;
  let text = renderAll(cards, kept === undefined ? new Map() : parseAll(kept, cards), now);
  let answered = 0;
  for (;;) {
    const file = await keepDraft(context, DRAFT, text);
    if (!(await editFile(file, editor, context))) throw notWell(context);
    const written = (await findText(file)) ?? "";
    const taken = await takeAll(open, parseAll(written, open), work);
    answered += taken.answered;
    if (taken.left.size === 0) return leave({ answered, left: 0 }, cards, context);
    // Somebody who closes the file as it was opened has seen the reasons and leaves it at that.
    open = open.filter(({ read }) => taken.left.has(read.question.id));
    const again = renderAll(open, taken.left, now);
    if (again === written) return leave({ answered, left: taken.left.size }, cards, context);
    text = again;
  }
}

/** Takes what can be taken; what cannot stays, with the reason. */
async function takeAll(
  cards: readonly Card[],
  entries: Entries,
  work: Work,
): Promise<{ answered: number; left: Map<QuestionId, Entry> }> {
  const left = new Map<QuestionId, Entry>();
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

/** Gives one answer to everybody who asked for it; returns how many that were. */
async function take({ read, same }: Card, entry: Entry, work: Work): Promise<number> {
  const { context } = work;
  const confirmed = read.question.risk === "high" && entry.confirm === wordToType(read.question.title, read.run.name);
  const input = AnswerInput.parse({
    answer: entry.answer,
    ...(entry.note !== "" && { note: entry.note }),
    ...{ confirmed, resume: work.resume },
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

async function give(before: Read, input: AnswerInput, { engine, context, by }: Work): Promise<void> {
  const isHolderGone = await findHolderGone(before.question);
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
  cards: readonly Card[],
  context: Context,
): Promise<number> {
  const asked = cards.reduce((sum, { same }) => sum + 1 + same.length, 0);
  const parts = [`${answered} answered`, `${Math.max(0, asked - answered - left)} skipped`];
  if (left > 0) parts.push(`${left} not taken; what you wrote is kept in ${draftFile(context, DRAFT)}`);
  else await removeDraft(context, DRAFT);
  if (!context.isQuiet) context.stderr.write(`${parts.join(", ")}\n`);
  return left > 0 ? EXIT_LEFT : 0;
}

function notWell(context: Context): Refusal {
  return new Refusal("bad_input", "The editor did not end well; nothing more was changed", {
    hint: `What you saved is kept: ${context.program} answer --all --edit`,
  });
}
