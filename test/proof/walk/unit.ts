import type { Handover, Question } from "../../../src/core/question.ts";
import type { Heard } from "./asker.ts";
import type { Line, Start } from "./notes.ts";

/** One thing that an agent has to be told: an answer, what a policy decided, a correction, words instead of an answer. */
export interface Unit {
  what: "answer" | "policy" | "forced answer" | "correction" | "cancellation with words";
  question: Question;
  /** The words by which it is known again in a message. */
  name: string;
  handover: Handover;
  atMs: number;
}

/** One time that somebody was told a unit. */
export interface Telling {
  start: Start | undefined;
  line: Pick<Line, "text" | "via" | "at" | "exit">;
}

/** Everything about a question that its agent has to be told. */
export function unitsOf(question: Question): Unit[] {
  const units: Unit[] = question.amendments.map(({ id, handover, at }) => ({
    ...{ what: "correction", question, name: id, handover, atMs: Date.parse(at) },
  }));
  if (question.status === "pending") return units;
  const { handover } = question;
  if (question.status === "answered")
    return [
      { what: "answer", question, name: question.answer.id, handover, atMs: Date.parse(question.answer.at) },
      ...units,
    ];
  if (question.status === "cancelled") {
    const atMs = Date.parse(question.cancelledAt);
    return question.note === undefined
      ? units
      : [{ what: "cancellation with words", question, name: question.note, handover, atMs }, ...units];
  }
  const { forced, answer, policy } = question;
  const atMs = Date.parse(question.timedOutAt);
  if (forced)
    units.unshift({
      what: "forced answer",
      question,
      name: forced.answer.id,
      handover: forced.handover,
      atMs: Date.parse(forced.answer.at),
    });
  if (policy === "proceed" || policy === "default")
    units.unshift({ what: "policy", question, name: answer?.id ?? `${question.id}:timeout`, handover, atMs });
  return units;
}

/** Finds every time that a unit was told, by the accounts of those who were told. */
export function findTellings(unit: Unit, starts: readonly Start[], heard: readonly Heard[]): Telling[] {
  const inRun = starts.flatMap((start) =>
    start.lines.filter((line) => line.is === "told" && isAbout(line, unit)).map((line) => ({ start, line })),
  );
  const outside = heard
    .filter(({ questionId }) => questionId === unit.question.id)
    .filter(({ text }) => isOutcome(unit) || text.includes(unit.name))
    .map(({ text, via, atMs }) => ({ start: undefined, line: { text, via, at: atMs } }));
  return [...inRun, ...outside];
}

/** The tag of a question, as it stands in its text. */
export function tagOf({ title }: Pick<Question, "title">): string | undefined {
  return /\b(k\d+-[\d.]+\+?|s\d+-[\d.]+)\?/.exec(title)?.[1];
}

/** A call that waited brings the outcome of its question; all else is known by its name. */
function isAbout(line: Line, unit: Unit): boolean {
  if (line.via === "wait") return isOutcome(unit) && line.tag === tagOf(unit.question);
  if (line.via === "mcp" && isOutcome(unit)) return line.tag === tagOf(unit.question);
  return line.text.includes(unit.name);
}

function isOutcome({ what }: Unit): boolean {
  return what === "answer" || what === "policy" || what === "cancellation with words";
}
