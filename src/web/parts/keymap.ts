import type { Key } from "../words/words.ts";

/** Keys that can be changed, with what they do. */
export const CHANGEABLE: ReadonlyArray<readonly [string, Key]> = [
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

/** Which key does what another one did, by the other one. */
export type Keymap = Readonly<Record<string, string>>;

const KEY = /^[^\s\dgG\p{C}]$/u;

/** The key that does what this one is for. */
export function keyFor(keymap: Keymap, key: string): string {
  return Object.hasOwn(keymap, key) ? (keymap[key] ?? key) : key;
}

/** The changes that can be kept, or the first key that cannot be, with what it was to do. */
export function readKeymap(given: (key: string) => string): { keymap: Keymap } | { bad: string; act: string } {
  const wanted = CHANGEABLE.map(([key]) => [key, given(key).trim().toLowerCase()] as const);
  const bad = wanted.find(([, chosen]) => chosen !== "" && !KEY.test(chosen));
  if (bad) return { bad: bad[1], act: bad[0] };
  const keymap = Object.fromEntries(wanted.filter(([key, chosen]) => chosen !== "" && chosen !== key));
  const used = CHANGEABLE.map(([key]) => keyFor(keymap, key));
  const twice = used.find((key, place) => used.indexOf(key) !== place);
  if (twice === undefined) return { keymap };
  const changed = Object.keys(keymap).findLast((key) => keymap[key] === twice);
  return { bad: twice, act: changed ?? twice };
}

/** The changes as a cookie keeps them, and back; what is not one of them is left out. */
export function writeKeymap(keymap: Keymap): string {
  return new URLSearchParams(Object.entries(keymap)).toString();
}

export function parseKeymap(text: string): Keymap {
  const kept = new URLSearchParams(text);
  const read = readKeymap((key) => kept.get(key) ?? "");
  return "keymap" in read ? read.keymap : {};
}
