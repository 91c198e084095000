import type { TextKind } from "../refusal-fact.ts";
import { Refusal } from "../refusal.ts";

// Control characters that move a cursor, change a colour or cannot be stored; newline, tab and return are text.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Refuses text that is too long or contains control characters. */
export function requirePlain(text: string, limitBytes: number, what: TextKind): void {
  requireBytes(text, limitBytes, what);
  const bad = CONTROL.exec(text) ?? LONE_SURROGATE.exec(text);
  if (!bad) return;
  const code = (bad[0].codePointAt(0) ?? 0).toString(16).padStart(4, "0");
  throw new Refusal(
    "bad_input",
    `The ${what} contains a control character (U+${code} at position ${bad.index + 1}); send plain text`,
    { fact: { is: "control_character", what, code, position: bad.index + 1 } },
  );
}

/** Refuses text over its limit, naming both sizes. */
export function requireBytes(text: string, limitBytes: number, what: TextKind): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limitBytes) return;
  throw new Refusal(
    "too_large",
    `The ${what} has ${bytes} bytes; at most ${limitBytes} are accepted. Shorten it and send it again`,
    { fact: { is: "too_long", what, bytes, limit: limitBytes } },
  );
}

/** Replaces control characters by visible escapes, so that coloured logs can serve as context. */
export function makePlain(text: string): string {
  return text.replace(new RegExp(`${CONTROL.source}|${LONE_SURROGATE.source}`, "g"), (bad) => {
    const code = bad.charCodeAt(0);
    return code > 0xff ? "\ufffd" : `\\x${code.toString(16).padStart(2, "0")}`;
  });
}
