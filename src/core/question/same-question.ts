import type { QuestionSnapshot } from "../changes.ts";
import type { Content, Option } from "./content.ts";

/**
 * A key that is equal for questions one answer fits; undefined for approvals and high risk, which are answered one by
 * one.
 */
export function sameQuestionKey({
  question,
  content,
}: Pick<QuestionSnapshot, "question" | "content">): string | undefined {
  if (question.kind === "approval" || question.risk === "high" || question.approvals.need > 1) return undefined;
  return JSON.stringify([content.items.map(sameItem), question.accepts]);
}

/** Equal questions of several runs. */
export type SameQuestions = readonly [QuestionSnapshot, ...QuestionSnapshot[]];

/** Groups equal questions at the place of the first; questions answered one by one stay alone. */
export function groupSameQuestions(reads: readonly QuestionSnapshot[]): SameQuestions[] {
  const groups = new Map<string, [QuestionSnapshot, ...QuestionSnapshot[]]>();
  for (const read of reads) {
    const name = sameQuestionKey(read) ?? read.question.id;
    const group = groups.get(name);
    if (group) group.push(read);
    else groups.set(name, [read]);
  }
  return [...groups.values()];
}

/** The possible answers to several questions at once. */
export interface SharedOptions {
  /** Labels of options that all of them have. */
  labels: string[];
  /** Some have other options besides. */
  isPartial: boolean;
  /** How many accept only their own options. */
  wordless: number;
}

/** Finds the options that several questions share. */
export function findSharedOptions(reads: readonly Pick<QuestionSnapshot, "content">[]): SharedOptions {
  const all = reads.map(({ content }) => labelsOf(content));
  const [first = [], ...rest] = all;
  const labels = first.filter((label) => rest.every((others) => others.some((other) => isSame(other, label))));
  return {
    labels,
    isPartial: all.some((each) => each.length > labels.length),
    wordless: reads.filter(({ content }) => content.items.some(({ allowText, schema }) => !allowText && !schema))
      .length,
  };
}

/** Finds the option with that label in a question of one item. */
export function findOption({ items }: Content, label: string): Option | undefined {
  const [item, second] = items;
  return item && !second ? item.options.find((option) => isSame(option.label, label)) : undefined;
}

function labelsOf({ items }: Content) {
  const [item, second] = items;
  return item && !second && !item.schema ? item.options.map(({ label }) => label) : [];
}

function isSame(one: string, other: string) {
  return normalizeText(one) === normalizeText(other);
}

function sameItem(item: Content["items"][number]): unknown[] {
  const options = item.options.map(({ label, value }) => [normalizeText(label), normalizeText(value)]);
  return [normalizeText(item.text), options, item.multiple, item.allowText, item.schema ?? null];
}

function normalizeText(text: string) {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[\s.?!]+$/, "")
    .trim();
}
