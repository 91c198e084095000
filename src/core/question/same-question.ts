import type { Read } from "../changes.ts";
import type { Content, Option } from "./content.ts";

/** Equal for questions that one answer fits; a leave or a risk is never given to several at once. */
export function sameName({ question, content }: Pick<Read, "question" | "content">): string | undefined {
  if (question.kind === "approval" || question.risk === "high" || question.approvals.need > 1) return undefined;
  return JSON.stringify([content.items.map(sameItem), question.accepts]);
}

/** Questions that ask the same, of several runs. */
export type Same = readonly [Read, ...Read[]];

/** Those that ask the same stand together, where the first of them was; what is answered one by one stays alone. */
export function groupSame(reads: readonly Read[]): Same[] {
  const groups = new Map<string, [Read, ...Read[]]>();
  for (const read of reads) {
    const name = sameName(read) ?? read.question.id;
    const group = groups.get(name);
    if (group) group.push(read);
    else groups.set(name, [read]);
  }
  return [...groups.values()];
}

/** What one answer to all of several questions can be. */
export interface Shared {
  /** Labels of options that every one of them has. */
  labels: string[];
  /** Some have others besides. */
  isPartial: boolean;
  /** How many take nothing but their own options. */
  wordless: number;
}

/** Finds what several questions can be answered with at once. */
export function shareOptions(reads: readonly Pick<Read, "content">[]): Shared {
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

/** The option that is called so, where a question has only one thing to choose. */
export function findOption({ items }: Content, label: string): Option | undefined {
  const [item, second] = items;
  return item && !second ? item.options.find((option) => isSame(option.label, label)) : undefined;
}

function labelsOf({ items }: Content): string[] {
  const [item, second] = items;
  return item && !second && !item.schema ? item.options.map(({ label }) => label) : [];
}

function isSame(one: string, other: string): boolean {
  return normal(one) === normal(other);
}

function sameItem(item: Content["items"][number]): unknown[] {
  const options = item.options.map(({ label, value }) => [normal(label), normal(value)]);
  return [normal(item.text), options, item.multiple, item.allowText, item.schema ?? null];
}

function normal(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[\s.?!]+$/, "")
    .trim();
}
