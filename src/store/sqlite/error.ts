import { Refusal } from "../../core/refusal.ts";
import { type ReadOnlyPart, findReadOnly } from "./read-only.ts";
import { readOnlyRefusal } from "../read-only.ts";
import { adviseRestore } from "./restore-advice.ts";
import { MissingDriver } from "../../sqlite.ts";

const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const INPUT_OUTPUT = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** SQLite's messages for these codes. */
const BY_MESSAGE: ReadonlyMap<string, number> = new Map([
  ["database is locked", BUSY],
  ["database table is locked", LOCKED],
  ["attempt to write a readonly database", READ_ONLY],
  ["disk I/O error", INPUT_OUTPUT],
  ["database disk image is malformed", CORRUPT],
  ["database or disk is full", FULL],
  ["unable to open database file", CANNOT_OPEN],
  ["file is not a database", NOT_A_DATABASE],
]);

const READ_ONLY_WORDS: Record<ReadOnlyPart, string> = {
  disk: "the disk is read-only",
  folder: "its directory is not yours to write to",
  file: "the file is read-only",
};

/** When to retry after a full or busy disk. */
const RETRY_AFTER_MS = 1000;

/** Says whether another process has the lock, so that a retry helps. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === BUSY || code === LOCKED;
}

/** Says whether a file could not be written, rather than read. */
export function isOfWriting(error: unknown): boolean {
  const code = codeOf(error);
  return code === FULL || code === READ_ONLY || code === CANNOT_OPEN || code === INPUT_OUTPUT;
}

/** Turns an error of the file or its disk into a refusal; returns any other error unchanged. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof MissingDriver) {
    return new Refusal("store_unusable", error.message, { hint: error.hint, cause: error });
  }
  const code = codeOf(error);
  const part = code === READ_ONLY ? findReadOnly(path) : undefined;
  if (code === READ_ONLY && part === undefined) return readOnlyRefusal(error);
  const lost = code === undefined || code === ERROR ? findLostPart(error) : undefined;
  const [what, hint] = lost === undefined ? describe(code, path) : lostPartText(path, lost);
  if (what === undefined) return error;
  const isPassing = code === BUSY || code === LOCKED || code === FULL || code === INPUT_OUTPUT;
  return new Refusal("store_unusable", what, {
    hint,
    cause: error,
    retryAfterMs: isPassing ? RETRY_AFTER_MS : undefined,
  });
}

/** The table or index that a statement needs and the file does not have. */
function findLostPart(error: unknown) {
  return error instanceof Error ? /no such (?:table|index|column): (\S+)/.exec(error.message)?.[1] : undefined;
}

function lostPartText(path: string, part: string): [what: string, hint: string] {
  return [`${path} has lost a part: ${part}.`, "Rebuild what can be rebuilt: askd doctor --fix"];
}

function describe(code: number | undefined, path: string): [what: string | undefined, hint: string] {
  switch (code) {
    case NOT_A_DATABASE:
      return [`${path} is not an askd store.`, "Name another file with --store, or move this one away."];
    case CORRUPT:
      return damagedFileText(path);
    case FULL:
      return [`The disk of ${path} is full; nothing was written.`, "Free some space; askd then continues."];
    case READ_ONLY:
      return [
        `${path} cannot be written: ${READ_ONLY_WORDS[findReadOnly(path) ?? "file"]}.`,
        "Make it writable, or name another place with --store or ASKD_HOME.",
      ];
    case CANNOT_OPEN:
      return [`${path} cannot be opened.`, "Check that its directory exists and is yours, or use --store."];
    case INPUT_OUTPUT:
      return [`The disk of ${path} failed; what was being written was not kept.`, "Check the disk, then try again."];
    case BUSY:
    case LOCKED:
      return [`Another program keeps ${path} locked.`, "See which one has it open: lsof, or fuser."];
    default:
      return [undefined, ""];
  }
}

export function damagedFileText(path: string): [what: string, hint: string] {
  return [`${path} is damaged.`, adviseRestore(path)];
}

function codeOf(error: unknown) {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") {
    return error.errcode & 255; // the rest of the bits say more about the same thing
  }
  // The driver for older versions of Node omits the code when reading many rows.
  return "code" in error && error.code === "ERR_SQLITE_ERROR" ? BY_MESSAGE.get(error.message) : undefined;
}
