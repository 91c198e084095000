import type { AnswerInput } from "../../../core/answer/answer-input.ts";
import { plainAnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Item } from "../../../core/question/content.ts";
import { matchAnswer } from "../../../core/answer/match.ts";
import { Refusal } from "../../../core/refusal.ts";
import { DEFAULT_LIMITS } from "../../../core/rules.ts";
import { sanitise } from "../../view/sanitise.ts";
import { sayChoices } from "../../view/question-text.ts";

const MARKER = "## Your Response (write below this line)";

/** The written answer, as the engine takes it. */
export type WrittenAnswer = Pick<AnswerInput, "answer" | "note">;

/** The text that the editor opens with: the question, the marker, and the earlier draft. */
export function renderTemplate({ run, content }: QuestionSnapshot, written = ""): string {
  const asked = content.items.flatMap((item) => [
    item.header === undefined ? foreign(item.text) : `${foreign(item.header)}: ${foreign(item.text)}`,
    ...(item.options.length > 0 ? [sayChoices(item)] : []),
  ]);
  const several = content.items.length > 1 ? ["# One line for each of them:", ...namesOf(content.items), ""] : [];
  return [
    `# Response to: ${foreign(run.name)}`,
    "",
    "## Question",
    ...asked,
    "",
    ...(content.context ? ["## Context", foreign(content.context), ""] : []),
    ...several,
    MARKER,
    "",
    written === "" ? "" : `${written}\n`,
  ].join("\n");
}

/**
 * The answer is the text below the marker, word for word. Without the marker it is everything that was not
 * there before.
 */
export function belowMarker(text: string, template: string): string {
  const plain = text.replaceAll("\r\n", "\n");
  const lines = plain.split("\n");
  const at = lines.findIndex((line) => line.trimEnd() === MARKER);
  if (at >= 0)
    return lines
      .slice(at + 1)
      .join("\n")
      .trim();
  const given = new Set(template.split("\n"));
  return lines
    .filter((line) => !line.startsWith("#") && !given.has(line))
    .join("\n")
    .trim();
}

/** If the first line names an option, it is the answer and the rest is the note; else all of it is the answer. */
export function readWritten(items: readonly Item[], text: string): WrittenAnswer {
  const [only, ...others] = items;
  const [first = "", ...rest] = text.split("\n");
  const note = rest.join("\n").trim();
  if (!only || others.length > 0 || note === "" || !chooses(only, first)) return { answer: text };
  return { answer: first.trim(), note };
}

function chooses(item: Item, line: string): boolean {
  if (item.options.length === 0 || item.schema) return false;
  try {
    matchAnswer({ items: [{ ...item, allowText: false }] }, plainAnswerInput(line.trim()), DEFAULT_LIMITS);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function namesOf(items: readonly Item[]): string[] {
  return items.map((item, index) => `#   ${sanitise(item.header ?? String(index + 1)).replaceAll("\n", " ")}: …`);
}

/** Makes foreign text that cannot pass for our marker. */
function foreign(text: string): string {
  return sanitise(text).replace(/^(?=## Your Response)/gm, " ");
}
