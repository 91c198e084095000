import { unreachable } from "./unreachable.ts";

/** A place where a trail and what it tells of disagree. */
export type Flaw =
  | { is: "line_missing" | "line_changed"; run: number; line: number }
  | { is: "trail_cut"; run: number; line: number; last: number }
  | { is: "store_trail"; line: number }
  | { is: "run_differs"; run: number; status: string; told: string }
  | { is: "untold"; question: string }
  | { is: "question_differs"; question: string; status: string; version: number; told: string; toldVersion: number }
  | { is: "seal_changed"; seal: number }
  | { is: "damaged"; what: string }
  | { is: "rewritten"; seal: number; id: string; line: number };

/** What is wrong, in one line. */
export function sayFlaw(flaw: Flaw): string {
  switch (flaw.is) {
    case "line_missing":
      return `run #${flaw.run}: line ${flaw.line} of its trail is missing`;
    case "line_changed":
      return `run #${flaw.run}: line ${flaw.line} of its trail was changed`;
    case "trail_cut":
      return `run #${flaw.run}: its trail ends at line ${flaw.line}, not at line ${flaw.last}`;
    case "store_trail":
      return `tokens and people: line ${flaw.line} of their trail is missing or was changed`;
    case "run_differs":
      return `run #${flaw.run}: it is ${flaw.status}, its trail says ${flaw.told}`;
    case "untold":
      return `${flaw.question}: nothing in the trail`;
    case "question_differs":
      return `${flaw.question}: it is ${flaw.status} at version ${flaw.version}, its trail says ${flaw.told} at ${flaw.toldVersion}`;
    case "seal_changed":
      return `seal ${flaw.seal} was changed or one before it is missing`;
    case "damaged":
      return `the file of the store is damaged: ${flaw.what}`;
    case "rewritten":
      return `seal ${flaw.seal}: the trail of run ${flaw.id} was rewritten before line ${flaw.line}`;
    default:
      return unreachable(flaw);
  }
}
