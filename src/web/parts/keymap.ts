import type { MessageKey } from "../words/words.ts";

/** Keys that can be changed, with the message that says what each does. */
export const CHANGEABLE_KEYS: ReadonlyArray<readonly [string, MessageKey]> = [
  ["j", "keys.down"],
  ["k", "keys.up"],
  ["x", "keys.tick"],
  ["e", "keys.next"],
  ["r", "keys.write"],
  ["n", "keys.note"],
  ["m", "keys.back"],
  ["y", "keys.decide"],
  ["h", "keys.snooze"],
  ["c", "keys.claim"],
  ["a", "keys.assign"],
  ["d", "keys.work"],
  ["+", "keys.extend"],
  ["u", "keys.undo"],
  ["/", "keys.search"],
  ["?", "keys.help"],
];

/** Replacement keys by the default key. */
export type Keymap = Readonly<Record<string, string>>;

const KEY = /^[^\s\dgG\p{C}]$/u;

/** The key that replaces a default key, or the key itself. */
export function keyFor(keymap: Keymap, key: string): string {
  return Object.hasOwn(keymap, key) ? (keymap[key] ?? key) : key;
}

/** Reads a keymap from form fields; or returns the first invalid key and its action. */
export function readKeymap(given: (key: string) => string): { keymap: Keymap } | { bad: string; act: string } {
  const wanted = CHANGEABLE_KEYS.map(([key]) => [key, given(key).trim().toLowerCase()] as const);
  const bad = wanted.find(([, chosen]) => chosen !== "" && !KEY.test(chosen));
  if (bad) return { bad: bad[1], act: bad[0] };
  const keymap = Object.fromEntries(wanted.filter(([key, chosen]) => chosen !== "" && chosen !== key));
  const used = CHANGEABLE_KEYS.map(([key]) => keyFor(keymap, key));
  const twice = used.find((key, place) => used.indexOf(key) !== place);
  if (twice === undefined) return { keymap };
  const changed = Object.keys(keymap).findLast((key) => keymap[key] === twice);
  return { bad: twice, act: changed ?? twice };
}

/** Serialises a keymap for its cookie; `parseKeymap` reads it back and ignores invalid entries. */
export function writeKeymap(keymap: Keymap): string {
  return new URLSearchParams(Object.entries(keymap)).toString();
}

export function parseKeymap(text: string): Keymap {
  const kept = new URLSearchParams(text);
  const read = readKeymap((key) => kept.get(key) ?? "");
  return "keymap" in read ? read.keymap : {};
}
