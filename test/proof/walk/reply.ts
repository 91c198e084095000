import { REFUSALS, type RefusalCode } from "../../../src/core/refusal.ts";

/** What came back for one deed. Of one that was cut off nobody knows whether it was done. */
export type Reply =
  | { is: "done"; body: unknown }
  | { is: "refused"; codes: readonly RefusalCode[]; words: string }
  | { is: "unknown"; words: string }
  | { is: "wrong"; words: string };

const CODES = Object.keys(REFUSALS) as RefusalCode[]; // the keys of the table

/** Reads what a server replied. */
export function replyOf(status: number, text: string): Reply {
  const body = parse(text);
  if (status < 300) return { is: "done", body };
  const code = isObject(body) && typeof body["code"] === "string" ? body["code"] : undefined;
  const known = CODES.find((each) => each === code);
  const words = `${status} ${text.slice(0, 300)}`;
  if (status >= 500 || !known || REFUSALS[known].http !== status) return { is: "wrong", words };
  return { is: "refused", codes: [known], words };
}

/** Reads how a command ended; its exit code stands for several refusals. */
export function replyOfExit(exit: number | string, stdout: string, stderr: string): Reply {
  if (exit === 0) return { is: "done", body: parse(stdout) };
  const words = `exit ${exit}: ${stderr.trim().slice(0, 300)}`;
  if (typeof exit === "string" || exit === 3) return { is: "unknown", words };
  const codes = CODES.filter((code) => REFUSALS[code].exit === exit && REFUSALS[code].http < 500);
  return exit === 1 || codes.length === 0 ? { is: "wrong", words } : { is: "refused", codes, words };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // words for people
  }
}
