import { describeOptions } from "../../../core/answer/match.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { Refusal } from "../../../core/refusal.ts";
import { offersOther } from "../../view/question-text.ts";
import { argumentOf } from "../../view/run-text.ts";

/** Refuses the number of "Other", which needs a text, and numbers beyond it; every way to write an answer passes here. */
export function requireNumber({ content, run }: QuestionSnapshot, word: string): void {
  const [only, ...others] = content.items;
  const number = word.trim();
  if (!only || others.length > 0 || !offersOther(only) || !/^\d+$/.test(number)) return;
  const isNamed = only.options.some(({ value, label }) => /^\d/.test(value) || /^\d/.test(label));
  const otherNumber = only.options.length + 1;
  if (Number(number) < otherNumber || (isNamed && Number(number) !== otherNumber)) return;
  const hint = `askd answer ${argumentOf(run)} "…", or -m ${number} if that is the answer`;
  if (Number(number) > otherNumber) {
    throw new Refusal("no_such_option", `There is no option ${number}; choose ${describeOptions(only)}`, { hint });
  }
  throw new Refusal("empty_answer", `Option ${number} needs an answer in your own words`, { hint });
}
