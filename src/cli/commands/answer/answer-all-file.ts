import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import type { QuestionCard } from "../next/next-state.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { choicesOf, sayThen } from "../../view/question-text.ts";
import { refOf } from "../../view/run-text.ts";

/** The answer to one question in the file; a field that was left empty is "". */
export interface AnswerFileEntry {
  answer: string;
  note: string;
  /** The word that confirms a high-risk answer. */
  confirm: string;
  /** Why the answer was refused the last time. */
  problem?: string;
}

export type Entries = ReadonlyMap<QuestionId, AnswerFileEntry>;

const FIELDS = ["answer", "note", "confirm"] as const;
const EMPTY: AnswerFileEntry = { answer: "", note: "", confirm: "" };

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
): string {
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

function dueClause({ question, content }: QuestionSnapshot, now: Instant): string[] {
  if (question.dueAt === undefined) return [];
  const leftMs = msBetween(now, question.dueAt);
  const then = sayThen(question, content).replace(/^uses "(.*)"$/s, "uses $1");
  return [leftMs > 0 ? `due in ${formatDuration(leftMs)}` : "due now", `then ${then}`];
}

function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1} ${choice}`).join("   ");
}

/** Indents foreign text, so that it cannot pass for one of our lines. */
function indented(text: string): string[] {
  return sanitise(text)
    .trim()
    .split("\n")
    .map((line) => `  ${line}`);
}

function trimmed({ answer, note, confirm }: AnswerFileEntry): AnswerFileEntry {
  return { answer: answer.trim(), note: note.trim(), confirm: confirm.trim() };
}
