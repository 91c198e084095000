import { KNOWN_BEFORE } from "../../../src/core/run/agent-message.ts";
import type { Answer, Handover, Question } from "../../../src/core/question/question.ts";
import type { Heard } from "./asker.ts";
import type { Line, Start } from "./notes.ts";

/** One thing that an agent has to be told: an answer, what a policy decided, a correction, words instead of an answer. */
export interface Unit {
  what: "answer" | "policy" | "forced answer" | "correction" | "cancellation with words";
  question: Question;
  /** The words by which it is known again in a message. */
  name: string;
  handover: Handover;
  /** All that was chosen and written; a reader takes it in any case of letters. */
  words: string[];
}

/** One time that somebody was told a unit. */
export interface Telling {
  start: Start | undefined;
  line: Pick<Line, "text" | "via" | "at" | "exit">;
}

/** Everything about a question that its agent has to be told. */
export function unitsOf(question: Question): Unit[] {
  const corrections = question.amendments.map(({ id, handover, text }): Unit => {
    return { what: "correction", question, name: id, handover, words: [text] };
  });
  return [...outcomesOf(question), ...corrections];
}

function outcomesOf(question: Question): Unit[] {
  if (question.status === "pending") return [];
  const { handover } = question;
  if (question.status === "answered")
    return [{ what: "answer", question, name: question.answer.id, handover, words: wordsOf(question.answer) }];
  if (question.status === "cancelled") {
    const { note } = question;
    if (note === undefined) return [];
    return [{ what: "cancellation with words", question, name: note, handover, words: [] }];
  }
  const { forced, answer, policy } = question;
  const name = answer?.id ?? `${question.id}:timeout`;
  return [
    ...(policy === "proceed" || policy === "default"
      ? [{ what: "policy" as const, question, name, handover, words: answer ? wordsOf(answer) : [] }]
      : []),
    ...(forced
      ? [
          {
            what: "forced answer" as const,
            question,
            name: forced.answer.id,
            handover: forced.handover,
            words: wordsOf(forced.answer),
          },
        ]
      : []),
  ];
}

/** Options by their values, as the plans make them: the label of `redis-k1-2` is "Redis for k1-2". */
function wordsOf({ items, note }: Answer): string[] {
  const said = Object.values(items).flatMap(({ values, text }) => [...values, ...(text === undefined ? [] : [text])]);
  return note === undefined ? said : [...said, note];
}

/** Says what of a unit is missing in the words in which it was told. */
export function findUntold({ words, what, question }: Unit, { line, start }: Telling): string[] {
  const isOverruled = what === "policy" && question.status === "timeout" && question.forced !== undefined;
  if (isOverruled && start === undefined) return []; // it reads the answer that came after the deadline
  const told = line.text.toLowerCase();
  // A command that waits prints the answer alone: values and words, no note.
  const isBare = line.via === "wait" && !told.startsWith("{") && !told.startsWith("a person asks back");
  return words.filter((word) => {
    const lower = word.toLowerCase();
    return (
      !told.includes(lower) &&
      !told.includes(lower.replace("-", " for ")) &&
      !(isBare && /^(note|which one)/.test(lower))
    );
  });
}

/** Finds every time that a unit was told, by the accounts of those who were told. */
export function findTellings(unit: Unit, starts: readonly Start[], heard: readonly Heard[]): Telling[] {
  const inRun = starts.flatMap((start) =>
    start.lines.filter((line) => line.is === "told" && isAbout(line, unit)).map((line) => ({ start, line })),
  );
  const outside = heard
    .filter(({ questionId, text }) => questionId === unit.question.id || text.includes(unit.name))
    // Who reads a question sees it as a whole: the answer that counts by now, and corrections by their words.
    .filter(({ text }) => isOutcome(unit) || text.includes(unit.name) || isQuoted(unit, text))
    .map(({ text, via, atMs }) => ({ start: undefined, line: { text, via, at: atMs } }));
  return [...inRun, ...outside];
}

/** The tag of a question, as it stands in its text. */
export function tagOf({ title }: Pick<Question, "title">): string | undefined {
  return /\b(k\d+-[\d.]+\+?|s\d+-[\d.]+)\?/.exec(title)?.[1];
}

/** A call that waited brings the outcome of its question, and corrections by their words; all else is known by its name. */
function isAbout(line: Line, unit: Unit): boolean {
  if (line.via === "wait") return isOutcome(unit) ? line.tag === tagOf(unit.question) : isQuoted(unit, line.text);
  if (line.via === "mcp" && isOutcome(unit)) return line.tag === tagOf(unit.question);
  // A command is reminded of what it was told before; that is no hand-over.
  return (line.text.split(KNOWN_BEFORE)[0] ?? "").includes(unit.name);
}

function isQuoted({ what, words }: Unit, text: string): boolean {
  return (what === "correction" || what === "forced answer") && words.every((word) => text.includes(word));
}

function isOutcome({ what }: Unit): boolean {
  return what === "answer" || what === "policy" || what === "cancellation with words";
}
