import { Refusal } from "../../core/refusal.ts";

/** Decodes UTF-8, without a byte order mark. Other text is refused, never changed silently. */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notUtf8(what, cause);
  }
}

/** Refuses arguments that were not UTF-8: Node has put the replacement character in the place of what it could not read. */
export function requireReadableArguments(argv: readonly string[]): void {
  if (argv.some((word) => word.includes("\uFFFD"))) throw notUtf8("An argument");
}

function notUtf8(what: string, cause?: unknown) {
  return new Refusal("bad_input", `${what} is not UTF-8 text`, {
    hint: "Convert it first: iconv -f latin1 -t utf-8 <file>",
    cause,
  });
}
