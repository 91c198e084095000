import { de } from "./de.ts";
import { en } from "./en.ts";

export type Key = keyof typeof en;
export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

const CATALOGUES: Readonly<Record<Language, Readonly<Record<Key, string>>>> = { en, de };

/** Says whether a text is the name of a sentence. */
export function isKey(name: string): name is Key {
  return Object.hasOwn(en, name);
}

/** The words for a key in a language, with `{name}` replaced by what is given for it. */
export function say(language: Language, key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  return CATALOGUES[language][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The first language of a reader that we have: the one they chose, or what their browser prefers. */
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
