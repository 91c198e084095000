import type { Read } from "../../../core/changes.ts";
import { sayDuration } from "../../../core/text/duration.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { wordToType } from "../../../core/risk-word.ts";
import type { Card } from "../next/next-state.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { choicesOf, refOf, sayThen } from "../../wording.ts";

/** What somebody wrote to one question; empty fields were left empty. */
export interface Entry {
  answer: string;
  note: string;
  /** The word that is typed where the risk is high. */
  confirm: string;
  /** Why it could not be taken the last time. */
  problem?: string;
}

export type Entries = ReadonlyMap<QuestionId, Entry>;

const FIELDS = ["answer", "note", "confirm"] as const;
const EMPTY: Entry = { answer: "", note: "", confirm: "" };

/** One file for all that waits. What was written before stands where it was written. */
export function renderAll(cards: readonly Card[], written: Entries, now: Instant): string {
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

/** Reads what was written to the questions of the file; others are not in it. */
export function parseAll(text: string, cards: readonly Card[]): Map<QuestionId, Entry> {
  const ids = cards.map(({ read }) => read.question.id);
  const byName = new Map(ids.map((id) => [shortId(id, ids), id]));
  const entries = new Map<QuestionId, Entry>();
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
    const entry: Entry = entries.get(id) ?? EMPTY;
    if (next) field = next;
    if (!field) continue;
    const before = next ? [] : [entry[field]];
    entries.set(id, { ...entry, [field]: [...before, next ? (start?.[2] ?? "") : line].join("\n") });
  }
  return new Map([...entries].map(([each, entry]) => [each, trimmed(entry)]));
}

function renderEntry(
  { read, same }: Card,
  { ids, now, entry }: { ids: readonly QuestionId[]; now: Instant; entry: Entry },
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
    ...(isRisky ? [`  # High risk: write ${oneLine(wordToType(question.title, read.run.name))} after "confirm:"`] : []),
    ...(entry.problem === undefined ? [] : [`# error: ${oneLine(entry.problem)}`]),
    `answer:${entry.answer === "" ? "" : ` ${entry.answer}`}`,
    ...(entry.note === "" ? [] : [`note: ${entry.note}`]),
    ...(isRisky ? [`confirm:${entry.confirm === "" ? "" : ` ${entry.confirm}`}`] : []),
    "",
  ].join("\n");
}

function dueClause({ question, content }: Read, now: Instant): string[] {
  if (question.dueAt === undefined) return [];
  const leftMs = msBetween(now, question.dueAt);
  const then = sayThen(question, content).replace(/^uses "(.*)"$/s, "uses $1");
  return [leftMs > 0 ? `due in ${sayDuration(leftMs)}` : "due now", `then ${then}`];
}

function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1} ${choice}`).join("   ");
}

/** Foreign text cannot start a line of ours: it is indented. */
function indented(text: string): string[] {
  return sanitise(text)
    .trim()
    .split("\n")
    .map((line) => `  ${line}`);
}

function trimmed({ answer, note, confirm }: Entry): Entry {
  return { answer: answer.trim(), note: note.trim(), confirm: confirm.trim() };
}
