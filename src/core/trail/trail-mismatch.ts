import { unreachable } from "../unreachable.ts";

/** A row that is gone: of these tables, or a job that its run or question must have. */
export type LostRow =
  | { table: "question"; id: string; runId: string }
  | { table: "content"; id: string }
  | { table: "entry"; kind: string; id: string; parent?: string }
  | { table: "job"; id: string };

/** A disagreement between the trail and the rows. */
export type TrailMismatch =
  | { is: "line_missing" | "line_changed"; run: number; line: number }
  | { is: "line_unknown"; id: string; line: number }
  | { is: "trail_cut"; run: number; line: number; last: number }
  | { is: "store_trail"; line: number }
  | { is: "run_differs"; run: number; status: string; told: string }
  | { is: "untold"; question: string }
  | { is: "question_differs"; question: string; status: string; version: number; told: string; toldVersion: number }
  | { is: "row_changed" | "row_unknown"; row: string }
  | { is: "row_missing"; row: string; lost?: LostRow }
  | { is: "rows_unknown"; rows: string; count: number }
  | { is: "column_differs"; row: string; column: string }
  | { is: "job_moved"; job: string; due: string; told: string }
  | { is: "number_changed"; seal: number; id: string; number: number; told: number }
  | { is: "seal_changed" | "lines_changed"; seal: number }
  | { is: "seals_cut"; seal: number; last: number }
  | { is: "anchor_differs"; seal: number }
  | { is: "schema_differs"; what: string; how: "added" | "changed" | "missing" | "unseen" }
  | { is: "damaged"; what: string }
  | { is: "rewritten"; seal: number; id: string; line: number }
  | { is: "more"; count: number };

/** Said of a schema that could not be compared, as on a standby. */
export const SCHEMA_UNSEEN =
  "the schema of the store was not compared: the server takes no writes, or this user may not create a schema for that";
const SCHEMA_WORDS = { added: "was added", changed: "was changed", missing: "is missing" } as const;

function describeSchema({ what, how }: Extract<TrailMismatch, { is: "schema_differs" }>) {
  if (how === "unseen") return SCHEMA_UNSEEN;
  return `the schema of the store is not what askd makes: ${what} ${SCHEMA_WORDS[how]}`;
}

/** Describes a mismatch in one line. */
export function describeTrailMismatch(flaw: TrailMismatch): string {
  switch (flaw.is) {
    case "line_missing":
      return `run #${flaw.run}: line ${flaw.line} of its trail is missing`;
    case "line_changed":
      return `run #${flaw.run}: line ${flaw.line} of its trail was changed`;
    case "line_unknown":
      return `line ${flaw.line} of the trail of ${flaw.id} belongs to nothing that is kept`;
    case "trail_cut":
      return `run #${flaw.run}: ${describeEnd(flaw)}`;
    case "store_trail":
      return `tokens and people: line ${flaw.line} of their trail is missing or was changed`;
    case "run_differs":
      return `run #${flaw.run}: it is ${flaw.status}, its trail says ${flaw.told}`;
    case "untold":
      return `${flaw.question}: nothing in the trail`;
    case "question_differs":
      return `${flaw.question}: it is ${flaw.status} at version ${flaw.version}, its trail says ${flaw.told} at ${flaw.toldVersion}`;
    case "row_changed":
      return `${flaw.row}: it is not what its trail says was written`;
    case "row_missing":
      return `${flaw.row}: its trail tells of it, and it is not there`;
    case "row_unknown":
      return `${flaw.row}: it is there, and no trail tells of it`;
    case "rows_unknown":
      return `${flaw.count} of the ${flaw.rows} are in no trail, or not as their trail says`;
    case "column_differs":
      return `${flaw.row}: its column ${flaw.column} differs from its text`;
    case "job_moved":
      return `${flaw.job}: it is due ${flaw.due}, its trail says ${flaw.told}`;
    case "number_changed":
      return `seal ${flaw.seal}: run ${flaw.id} was #${flaw.told} and is #${flaw.number}`;
    case "seal_changed":
      return `seal ${flaw.seal} was changed or one before it is missing`;
    case "lines_changed":
      return `seal ${flaw.seal}: lines that it sealed are missing, were added or stand in another order`;
    case "seals_cut":
      return `the seals end at ${flaw.seal}, not at ${flaw.last}`;
    case "anchor_differs":
      return `seal ${flaw.seal} is not the one that was anchored outside: the store was replaced or rewritten`;
    case "schema_differs":
      return describeSchema(flaw);
    case "damaged":
      return `the file of the store is damaged: ${flaw.what}`;
    case "rewritten":
      return `seal ${flaw.seal}: the trail of run ${flaw.id} was rewritten before line ${flaw.line}`;
    case "more":
      return `and ${flaw.count} more`;
    default:
      return unreachable(flaw);
  }
}

/** A trail with another line at its end, or another number of lines. */
function describeEnd({ line, last }: { line: number; last: number }) {
  if (line !== last) return `its trail ends at line ${line}, not at line ${last}`;
  return `line ${line}, the last of its trail, is not the one that was written there`;
}
