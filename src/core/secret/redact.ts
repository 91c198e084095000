import type { Content, Item } from "../question/content.ts";
import { findEmbedded } from "./embedded-secret.ts";
import { findNamed } from "./named-secret.ts";
import { ownSecretFinder } from "./own-secret.ts";
import { findTokens } from "./secret-token.ts";
import { type TextRange, maskRanges } from "./text-range.ts";

const MASK = "[redacted]";

/** Takes secrets out of a text. */
export type Redactor = (text: string) => string;

/**
 * Takes out what looks like a secret, every value that is known to be one in whatever form it is written, and what these
 * patterns match. The time is in proportion to the length of the text, whatever stands in it.
 */
export function redact(text: string, secrets: readonly string[], patterns: readonly RegExp[] = []): string {
  return redactor(secrets, patterns)(text);
}

/** The same for many texts with the same secrets. */
export function redactor(secrets: readonly string[], patterns: readonly RegExp[] = []): Redactor {
  const findOwn = ownSecretFinder(secrets);
  return (text) => {
    const found = [
      ...patterns.flatMap((pattern) => findPattern(text, pattern)),
      ...findOwn(text),
      ...findTokens(text),
      ...findNamed(text),
      ...findEmbedded(text),
    ];
    return maskRanges(text, found, MASK);
  };
}

function findPattern(text: string, pattern: RegExp): TextRange[] {
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

/** The content with secrets taken out, if that changes anything. */
export function redactContent(
  content: Content,
  secrets: readonly string[],
  patterns: readonly RegExp[] = [],
): Pick<Content, "shared"> {
  const clean = redactor(secrets, patterns);
  const items = content.items.map((item) => redactItem(item, clean));
  const context = content.context === undefined ? undefined : clean(content.context);
  const isSame = context === content.context && items.every((item, index) => item === content.items[index]);
  return isSame ? {} : { shared: { items, ...(context !== undefined && { context }) } };
}

function redactItem(item: Item, clean: (text: string) => string): Item {
  const text = clean(item.text);
  let isSame = text === item.text;
  const options = item.options.map((option) => {
    const label = clean(option.label);
    const description = option.description === undefined ? undefined : clean(option.description);
    const preview = option.preview === undefined ? undefined : clean(option.preview);
    if (label === option.label && description === option.description && preview === option.preview) return option;
    isSame = false;
    return {
      ...option,
      label,
      ...(description !== undefined && { description }),
      ...(preview !== undefined && { preview }),
    };
  });
  return isSame ? item : { ...item, text, options };
}
