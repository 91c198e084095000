import { z } from "zod";
import { sayIssue } from "../question/ask-input.ts";
import { parseDuration } from "../text/duration.ts";
import { SECOND_MS } from "../instant.ts";
import { Outcome } from "../question/question.ts";
import { Refusal } from "../refusal.ts";

const ItemAnswer = z.object({ values: z.array(z.string()).default([]), text: z.string().optional() });

/** What somebody says to a question, before it is matched to what was asked. */
export const AnswerInput = z.object({
  /** By item id, place or header. */
  items: z.record(z.string(), ItemAnswer).optional(),
  /** The same in words: a key, value, label or free text. */
  answer: z.string().optional(),
  note: z.string().optional(),
  /** The template that the words come from. */
  template: z.string().max(64).optional(),
  outcome: Outcome.default("answer"),
  /** Answers after the deadline, on purpose. */
  force: z.boolean().default(false),
  /** The person has seen what a high risk means. */
  confirmed: z.boolean().default(false),
  /** How long the reply can be taken back. */
  undoMs: z.int().nonnegative().default(0),
  /** Stores the answer and leaves the run where it is. */
  resume: z.boolean().default(true),
  /** Counts only if the question is still at this version. */
  ifVersion: z.int().optional(),
  /** Names this reply: sent again, it counts once. */
  key: z.string().min(1).max(255).optional(),
});
export type AnswerInput = z.infer<typeof AnswerInput>;

/** An answer as it comes over the wire. */
export const AnswerBody = AnswerInput.omit({ undoMs: true, ifVersion: true, key: true }).extend({
  undo_window: z.union([z.string(), z.number().nonnegative()]).optional(),
});

/** Reads an answer as it comes over the wire, or says what is wrong with it. Where it does not say so, it can be undone this long. */
export function parseAnswer(raw: unknown, undoMs = 0): AnswerInput {
  const parsed = AnswerBody.safeParse(raw);
  if (!parsed.success) throw new Refusal("bad_input", `The answer cannot be read: ${sayIssue(parsed.error)}`);
  const { undo_window: undoWindow, ...input } = parsed.data;
  if (undoWindow === undefined) return { ...input, undoMs };
  return { ...input, undoMs: typeof undoWindow === "number" ? undoWindow * SECOND_MS : parseDuration(undoWindow) };
}

/** A typed answer as plain words, the way a policy gives it. */
export function defaultInput(answer: string): AnswerInput {
  return { answer, outcome: "answer", force: false, confirmed: true, undoMs: 0, resume: true };
}
