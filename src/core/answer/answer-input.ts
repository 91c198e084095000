import { z } from "zod";
import { describeIssue } from "../question/ask-input.ts";
import { parseDuration } from "../text/duration.ts";
import { SECOND_MS } from "../instant.ts";
import { Outcome } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import type { Content } from "../question/content.ts";

const ItemAnswer = z.object({ values: z.array(z.string()).default([]), text: z.string().optional() });

/** A reply to a question, before it is matched to what was asked. */
export const AnswerInput = z.object({
  /** By item id, index or header. */
  items: z.record(z.string(), ItemAnswer).optional(),
  /** The reply as text: a key, value, label or free text. */
  answer: z.string().optional(),
  /** The words are meant as they stand, however near they are to the label of an option. */
  verbatim: z.boolean().optional(),
  note: z.string().optional(),
  /** The template the text was taken from. */
  template: z.string().max(64).optional(),
  outcome: Outcome.default("answer"),
  /** Answers a question that has already timed out. */
  force: z.boolean().default(false),
  /** The person has confirmed a high-risk question. */
  confirmed: z.boolean().default(false),
  /** The undo window of this reply. */
  undoMs: z.int().nonnegative().default(0),
  /** False stores the answer without resuming the run. */
  resume: z.boolean().default(true),
  /** Refuses the reply unless the question is still at this version. */
  ifVersion: z.int().optional(),
  /** Idempotency key: the same reply sent again counts once. */
  key: z.string().min(1).max(255).optional(),
});
export type AnswerInput = z.infer<typeof AnswerInput>;

/** An answer in the wire format. */
export const AnswerBody = AnswerInput.omit({ undoMs: true, ifVersion: true, key: true }).extend({
  undo_window: z.union([z.string(), z.number().nonnegative()]).optional(),
});

/** Parses an answer from the wire format or refuses it; `undoMs` is the undo window if the body sets none. */
export function parseAnswer(raw: unknown, undoMs = 0): AnswerInput {
  const parsed = AnswerBody.safeParse(raw);
  if (!parsed.success) throw new Refusal("bad_input", `The answer cannot be read: ${describeIssue(parsed.error)}`);
  const { undo_window: undoWindow, ...input } = parsed.data;
  if (undoWindow === undefined) return { ...input, undoMs };
  return { ...input, undoMs: typeof undoWindow === "number" ? undoWindow * SECOND_MS : parseDuration(undoWindow) };
}

/** Wraps plain text as an answer, the way a timeout policy gives one. */
export function plainAnswerInput(answer: string): AnswerInput {
  return { answer, verbatim: true, outcome: "answer", force: false, confirmed: true, undoMs: 0, resume: true };
}

/** Parses typed choices: `1`, `A,B` or several values for one item; `cache=1` and `ttl=A,B` for several items. */
export function readChoices({ items }: Content, choices: readonly string[]): NonNullable<AnswerInput["items"]> {
  const [only, ...others] = items;
  if (only && others.length === 0) {
    return { [only.id]: choices.length > 1 ? { values: [...choices] } : { values: [], text: choices[0] ?? "" } };
  }
  const pairs = choices.map((choice) => /^([^=]+)=(.+)$/s.exec(choice));
  if (pairs.some((pair) => pair === null)) {
    const names = items.map((item) => `${item.id}=…`);
    throw new Refusal("bad_input", "Say which item each choice is for", {
      hint: `Write: ${names.map((name) => `-c ${name}`).join(" ")}`,
      fact: { is: "unnamed_choice", names },
    });
  }
  const chosen = new Map<string, string[]>();
  for (const pair of pairs) chosen.set(pair?.[1] ?? "", [...(chosen.get(pair?.[1] ?? "") ?? []), pair?.[2] ?? ""]);
  return Object.fromEntries(
    [...chosen].map(([name, values]) => [name, values.length > 1 ? { values } : { values: [], text: values[0] ?? "" }]),
  );
}
