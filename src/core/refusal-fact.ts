import type { RunStatus } from "./run/run.ts";

/** The texts that have a limit and must be plain. */
export type TextKind =
  | "question"
  | "option"
  | "context"
  | "answer"
  | "note"
  | "comment"
  | "correction"
  | "reason"
  | "template"
  | "name"
  | "text";

/** The rule that a typed answer violates. */
export type RequiredForm =
  | "object"
  | "complete"
  | "known"
  | "boolean"
  | "text"
  | "number"
  | "integer"
  | "least"
  | "most"
  | "listed"
  | "longer"
  | "shorter"
  | "format";

/** The facts of refusals by name, each with everything a translated sentence needs. */
export interface RefusalFacts {
  no_item: { name: string; names: readonly string[] };
  missing_items: { names: readonly string[] };
  which_item: { count: number };
  one_choice: { options: readonly string[] };
  ambiguous: { said: string; names: readonly string[] };
  no_such_option: { said: string; options: readonly string[] };
  risky_change: object;
  needs_person_code: { code: string };
  /** A field of the answer, or all of it; `wanted` is a limit or the allowed values. */
  mismatch: { must: RequiredForm; field?: string; wanted: string };
  control_character: { what: TextKind; code: string; position: number };
  too_long: { what: TextKind; bytes: number; limit: number };

  answered: { by: string; agoMs: number; channel: string; said: string };
  answered_late: { id: string; by: string; agoMs: number; channel: string; said: string };
  timed_out: { id: string; agoMs: number; then: "open" | "closed" };
  timed_out_run: { id: string; agoMs: number; status: RunStatus };
  cancelled: { id: string; by: string; agoMs: number };
  settling: { by: string; said: string };
  needs_votes: { need: number };
  not_for_you: { names: readonly string[]; you: string };
  uncorrectable: { id: string; question: "pending" | "cancelled" };

  claimed: { by: string };
  unclaimed: object;
  nobody_named: object;
  snooze_past: object;
  empty_comment: object;
  many_comments: { count: number };
  nobody_further: object;
  no_deadline: object;
  extend_nothing: object;
  no_duration: { said: string };
  endless_duration: { said: string };

  run_ended: { number: number; status: RunStatus };
  run_waits: { number: number; id: string };
  nothing_to_resume: { number: number; status: RunStatus };

  empty_template: object;
  unknown_field: { field: string; fields: readonly string[] };
  lacking_field: { name: string; field: string };
  unnamed_choice: { names: readonly string[] };
  many_templates: { count: number };

  admin_only: object;
  token_scope: { subject: string };
  full: { count: number };

  other_name: object;
  other_site: object;
  not_json: object;
  large_body: { limit: number };
  foreign_form: object;
  unreadable_form: object;
  by_itself: object;
}

export type RefusalFactName = keyof RefusalFacts;

/** One fact; `is` names it. */
export type RefusalFact = { [Name in RefusalFactName]: { is: Name } & RefusalFacts[Name] }[RefusalFactName];
