import { type Interface, type Key as Keypress, emitKeypressEvents } from "node:readline";
import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";

/** A key press: a character, a named key, or a paste. */
export type Key = { name: "character"; text: string } | { name: "paste"; text: string } | { name: KeyName };

type KeyName =
  | "enter"
  | "newline"
  | "escape"
  | "tab"
  | "back-tab"
  | "backspace"
  | "delete"
  | "interrupt"
  | "end-of-input"
  | "suspend"
  | "up"
  | "down"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "redraw"
  | "kill-word"
  | "kill-start"
  | "kill-end";

/** A lone escape byte is the Escape key if nothing follows within this time. */
const ESCAPE_MS = 40;

const ESCAPE = "\x1b";

/** Node's names of keys pressed alone. */
const PLAIN: Readonly<Record<string, KeyName>> = {
  return: "enter",
  enter: "newline",
  escape: "escape",
  tab: "tab",
  backspace: "backspace",
  delete: "delete",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  home: "home",
  end: "end",
  pageup: "page-up",
  pagedown: "page-down",
};

const WITH_CONTROL: Readonly<Record<string, KeyName>> = {
  a: "home",
  b: "left",
  c: "interrupt",
  d: "end-of-input",
  e: "end",
  f: "right",
  k: "kill-end",
  l: "redraw",
  n: "down",
  p: "up",
  u: "kill-start",
  w: "kill-word",
  z: "suspend",
  left: "word-left",
  right: "word-right",
};

const WITH_ALT: Readonly<Record<string, KeyName>> = {
  b: "word-left",
  f: "word-right",
  left: "word-left",
  right: "word-right",
  backspace: "kill-word",
  return: "newline",
  enter: "newline",
};

/** Enter with Shift or Alt, as terminals with extended key codes send it. */
const MODIFIED_ENTER = /\[(?:13;[2-4]u|27;[2-4];13~)$/;
/** The part of xterm's code for a modified key after which Node stops; the rest arrives as characters. */
const XTERM_PREFIX = /\[27;\d;$/;

/** Calls `onKey` for every key that the terminal sends, until the returned function is called. */
export function listenForKeys(input: NodeJS.ReadableStream, onKey: (key: Key) => void): () => void {
  let pasted: string | undefined;
  let xterm: string | undefined;
  const onKeypress = (text: string | undefined, keypress: Keypress) => {
    const { sequence = "" } = keypress;
    if (keypress.name === "paste-start") {
      pasted = "";
    } else if (keypress.name === "paste-end") {
      if (pasted) onKey({ name: "paste", text: pasted.replaceAll("\r\n", "\n").replaceAll("\r", "\n") });
      pasted = undefined;
    } else if (pasted !== undefined) {
      pasted += sequence;
    } else if (xterm !== undefined || XTERM_PREFIX.test(sequence)) {
      xterm = (xterm ?? "") + sequence;
      if (xterm.endsWith(";") || /\d$/.test(sequence)) return;
      if (MODIFIED_ENTER.test(xterm)) onKey({ name: "newline" });
      xterm = undefined;
    } else {
      for (const key of keysOf(text, keypress)) onKey(key);
    }
  };
  // Node reads only this field, but declares the parameter as a whole interface. Its own default is 500 ms.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  input.on("keypress", onKeypress);
  return () => void input.off("keypress", onKeypress);
}

/** The next key that a person presses, without echo; undefined when the input ends or `signal` aborts. */
export function readKey(input: Readable, signal: AbortSignal): Promise<Key | undefined> {
  const terminal = input instanceof ReadStream ? input : undefined;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const finish = (key: Key | undefined) => {
      stop();
      input.off("end", abort).pause();
      signal.removeEventListener("abort", abort);
      terminal?.setRawMode(false);
      resolve(key);
    };
    const abort = () => finish(undefined);
    const stop = listenForKeys(input, finish);
    terminal?.setRawMode(true);
    signal.addEventListener("abort", abort, { once: true });
    input.on("end", abort).resume();
  });
}

function keysOf(text: string | undefined, keypress: Keypress): Key[] {
  const { sequence = "" } = keypress;
  const name = findName(keypress);
  const key: Key | undefined = name ? { name } : findCharacter(text, keypress);
  // Node joins a pressed Escape with the key that follows at once.
  const isAfterEscape = sequence.startsWith(ESCAPE + ESCAPE);
  return [...(isAfterEscape ? [{ name: "escape" } as const] : []), ...(key ? [key] : [])];
}

function findName({ name = "", sequence = "", ctrl, meta, shift }: Keypress) {
  if (MODIFIED_ENTER.test(sequence)) return "newline";
  if (name === "escape") return "escape"; // Node sets `meta` on it
  if (name === "tab" && shift) return "back-tab";
  if (ctrl) return WITH_CONTROL[name];
  return meta ? WITH_ALT[name] : PLAIN[name];
}

function findCharacter(text: string | undefined, { ctrl, meta }: Keypress): Key | undefined {
  if (text === undefined || ctrl || meta || text < " ") return undefined;
  return { name: "character", text };
}
