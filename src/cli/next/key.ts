/** What a person did with the keyboard: a character, a named key, or a paste. */
export type Key =
  | { name: "character"; text: string }
  | { name: "paste"; text: string }
  | { name: (typeof NAMED)[number] };

const NAMED = [
  ...["enter", "newline", "escape", "tab", "back-tab", "backspace", "delete", "interrupt", "end-of-input", "suspend"],
  ...["up", "down", "left", "right", "word-left", "word-right", "home", "end", "page-up", "page-down", "redraw"],
  ...["kill-word", "kill-start", "kill-end"],
] as const;

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

const CONTROLS: Readonly<Record<string, (typeof NAMED)[number]>> = {
  ...{ "\r": "enter", "\n": "newline", "\t": "tab", "\x7f": "backspace", "\b": "backspace" },
  ...{ "\x03": "interrupt", "\x04": "end-of-input", "\x1a": "suspend", "\x0c": "redraw" },
  ...{ "\x01": "home", "\x05": "end", "\x02": "left", "\x06": "right", "\x0e": "down", "\x10": "up" },
  ...{ "\x17": "kill-word", "\x15": "kill-start", "\x0b": "kill-end" },
};

// What stands between the start of a sequence and its last byte says how; modifiers 3, 5, 7 jump by words.
const SEQUENCES: ReadonlyArray<readonly [RegExp, (typeof NAMED)[number]]> = [
  [/^(?:\[|O)A$/, "up"],
  [/^(?:\[|O)B$/, "down"],
  [/^(?:\[|O)C$/, "right"],
  [/^(?:\[|O)D$/, "left"],
  [/^\[1;[357]C$|^f$/, "word-right"],
  [/^\[1;[357]D$|^b$/, "word-left"],
  [/^(?:\[|O)H$|^\[[17]~$/, "home"],
  [/^(?:\[|O)F$|^\[[48]~$/, "end"],
  [/^\[3~$/, "delete"],
  [/^\[5~$/, "page-up"],
  [/^\[6~$/, "page-down"],
  [/^\[Z$/, "back-tab"],
  [/^[\r\n]$|^\[13;[2-4]u$|^\[27;[2-4];13~$/, "newline"],
  [/^\x7f$/, "kill-word"],
];

/** Reads keys from what a terminal sent; what may be the start of a longer sequence comes back as the rest. */
export function parseKeys(input: string): { keys: Key[]; rest: string } {
  const keys: Key[] = [];
  let at = 0;
  while (at < input.length) {
    const read = input[at] === "\x1b" ? parseSequence(input, at) : parsePlain(input, at);
    if (!read) return { keys, rest: input.slice(at) };
    if (read.key) keys.push(read.key);
    at = read.end;
  }
  return { keys, rest: "" };
}

/** What is left when nothing follows: an escape alone is the key of that name. */
export function flushKeys(rest: string): Key[] {
  if (rest.startsWith(PASTE_START)) return [];
  return rest.startsWith("\x1b") ? [{ name: "escape" }, ...parseKeys(rest.slice(1)).keys] : [];
}

interface Parsed {
  key: Key | undefined;
  end: number;
}

function parsePlain(input: string, at: number): Parsed {
  const text = String.fromCodePoint(input.codePointAt(at) ?? 0);
  const named = CONTROLS[text];
  const end = at + text.length;
  if (named) return { key: { name: named }, end };
  return { key: text < " " ? undefined : { name: "character", text }, end };
}

function parseSequence(input: string, at: number): Parsed | undefined {
  if (input.startsWith(PASTE_START, at)) {
    const end = input.indexOf(PASTE_END, at);
    if (end < 0) return undefined;
    const text = input.slice(at + PASTE_START.length, end);
    return {
      key: { name: "paste", text: text.replaceAll("\r\n", "\n").replaceAll("\r", "\n") },
      end: end + PASTE_END.length,
    };
  }
  // A second escape is a key of its own, and what follows it starts anew.
  if (input[at + 1] === "\x1b") return { key: { name: "escape" }, end: at + 1 };
  const found = /^(?:\[[\x20-\x3f]*[\x40-\x7e]|O[\x20-\x7e]|[^[O])/su.exec(input.slice(at + 1, at + 40));
  if (!found) return input.length - at > 30 ? { key: undefined, end: input.length } : undefined;
  const name = SEQUENCES.find(([pattern]) => pattern.test(found[0]))?.[1];
  return { key: name && { name }, end: at + 1 + found[0].length };
}
