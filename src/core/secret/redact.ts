import type { Content, Item } from "../question/content.ts";
import { findEmbeddedSecrets } from "./embedded-secret.ts";
import { findNamedSecrets } from "./named-secret.ts";
import { ownSecretFinder } from "./own-secret.ts";
import { findSecretTokens } from "./secret-token.ts";
import { type TextRange, maskRanges } from "./text-range.ts";

/** The text in place of a secret. */
export const MASK = "[redacted]";

/** Redacts secrets in a text. */
export type Redactor = (text: string) => string;

/**
 * Redacts what looks like a secret, every known secret value in any encoding, and matches of these patterns. The time
 * is linear in the length of the text.
 */
export function redact(text: string, secrets: readonly string[], patterns: readonly RegExp[] = []): string {
  return redactor(secrets, patterns)(text);
}

/** Creates a redactor for many texts with the same secrets. */
export function redactor(secrets: readonly string[], patterns: readonly RegExp[] = []): Redactor {
  const findOwn = ownSecretFinder(secrets);
  return (text) => {
    const found = [
      ...patterns.flatMap((pattern) => findPattern(text, pattern)),
      ...findOwn(text),
      ...findSecretTokens(text),
      ...findNamedSecrets(text),
      ...findEmbeddedSecrets(text),
    ];
    return maskRanges(text, found, MASK);
  };
}

function findPattern(text: string, pattern: RegExp): TextRange[] {
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

/** The redacted content, if it differs. */
export function redactContent(
  content: Content,
  secrets: readonly string[],
  patterns: readonly RegExp[] = [],
): Pick<Content, "shared"> {
  const clean = redactor(secrets, patterns);
  const items = content.items.map((item) => redactItem(item, clean));
  const context = content.context === undefined ? undefined : clean(content.context);
  const isSame = context === content.context && items.every((item, index) => item === content.items[index]);
  return isSame ? {} : { shared: { items, context } };
}

function redactItem(item: Item, clean: (text: string) => string): Item {
  const text = clean(item.text);
  const change = item.change === undefined ? undefined : clean(item.change);
  let isSame = text === item.text && change === item.change;
  const options = item.options.map((option) => {
    const label = clean(option.label);
    const description = option.description === undefined ? undefined : clean(option.description);
    const preview = option.preview === undefined ? undefined : clean(option.preview);
    if (label === option.label && description === option.description && preview === option.preview) return option;
    isSame = false;
    return { ...option, label, description, preview };
  });
  return isSame ? item : { ...item, text, options, change };
}
