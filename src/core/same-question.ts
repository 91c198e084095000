import type { Read } from "./changes.ts";
import type { Content } from "./content.ts";

/** Equal for questions that one answer fits; a leave or a risk is never given to several at once. */
export function sameName({ question, content }: Pick<Read, "question" | "content">): string | undefined {
  if (question.kind === "approval" || question.risk === "high" || question.approvals.need > 1) return undefined;
  return JSON.stringify([content.items.map(sameItem), question.accepts]);
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
