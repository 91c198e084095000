import { hash } from "node:crypto";
import { z } from "zod";
import { AnswerSchema } from "../answer/answer-schema.ts";
import { timePart } from "../id.ts";

/** One option; people may name it by key, value or label. */
export const Option = z.object({
  key: z.string().max(3),
  value: z.string(),
  label: z.string(),
  description: z.string().optional(),
  preview: z.string().optional(),
  recommended: z.literal(true).optional(),
});
export type Option = z.infer<typeof Option>;

/** One item of a question. */
export const Item = z.object({
  id: z.string(),
  header: z.string().optional(),
  text: z.string(),
  options: z.array(Option),
  multiple: z.boolean(),
  allowText: z.boolean(),
  placeholder: z.string().optional(),
  schema: AnswerSchema.optional(),
  /** The command of an approval whose asker can take a changed one. */
  change: z.string().optional(),
});
export type Item = z.infer<typeof Item>;

/** The exact content of a question. It is written once and never changes. */
export const Content = z.object({
  items: z.array(Item).min(1),
  context: z.string().optional(),
  /** The content with secrets redacted, if that differs: channels send this one. */
  shared: z.object({ items: z.array(Item), context: z.string().optional() }).optional(),
});
export type Content = z.infer<typeof Content>;

/** Hashes content; equal content has an equal hash. */
export function hashContent(content: Pick<Content, "items" | "context">): string {
  return hashText(JSON.stringify([content.items.map(canonicalItem), content.context ?? null]));
}

/** The key content is stored under. Keys that sort by time keep rows of one commit together on disk. */
export function contentName(questionId: string, hash: string): string {
  return `${timePart(questionId)}${hash}`;
}

export function hashText(text: string): string {
  return hash("sha256", text, "hex");
}

/** The first item in one line, for lists. */
export function titleOf(content: Content): string {
  const line = content.items
    .map((item) => item.text)
    .join(" / ")
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1)}…`;
}

/** The option the agent recommends, if any. */
export function recommendedOption(item: Item): Option | undefined {
  return item.options.find((option) => option.recommended);
}

const TITLE_CHARS = 200;

function canonicalItem(item: Item): unknown[] {
  return [
    item.id,
    item.header ?? null,
    item.text,
    item.options.map(canonicalOption),
    item.multiple,
    item.allowText,
    item.schema ?? null,
  ];
}

function canonicalOption(option: Option): unknown[] {
  return [option.value, option.label, option.description ?? null, option.recommended ?? false];
}

/** Says whether a list of the choices ends with our own "Other". */
export function offersOther({ allowText, options }: Item): boolean {
  return allowText && options.length > 0 && !options.some(({ label }) => label.trim().toLowerCase() === "other");
}
