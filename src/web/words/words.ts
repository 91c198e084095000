import { de } from "./de.ts";
import { type Language, LANGUAGES, fillIn } from "../../core/text/language.ts";
import { en } from "./en.ts";

export type MessageKey = keyof typeof en;

const CATALOGUES: Readonly<Record<Language, Readonly<Record<MessageKey, string>>>> = { en, de };

/** True if a text is the key of a message. */
export function isMessageKey(name: string): name is MessageKey {
  return Object.hasOwn(en, name);
}

/** The message for a key, with each `{name}` replaced by its value. */
export function say(
  language: Language,
  key: MessageKey,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return fillIn(CATALOGUES[language][key], values);
}

/** Picks the chosen language, or else the first supported one that the browser prefers. */
export function pickLanguage(chosen: string | undefined, accepted: string | undefined): Language {
  const wished = (accepted ?? "")
    .split(",")
    .map((part) => {
      const [name = "", quality] = part.trim().split(/;\s*q=/);
      return { name: name.slice(0, 2).toLowerCase(), weight: quality === undefined ? 1 : Number(quality) || 0 };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ name }) => name);
  return [chosen, ...wished].flatMap((name) => LANGUAGES.find((each) => each === name) ?? [])[0] ?? "en";
}
