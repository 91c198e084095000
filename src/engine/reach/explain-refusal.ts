import type { QuestionSnapshot } from "../../core/changes.ts";
import { questionMessage, sayHowToReply } from "../../core/channel/message.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Refusal, RefusalCode } from "../../core/refusal.ts";
import { redactor } from "../../core/secret/redact.ts";
import { formatDuration } from "../../core/text/duration.ts";
import type { Language } from "../../core/text/language.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Decider } from "../decide.ts";

/** Refusals that another attempt in the same place can get around. */
const HELPED: ReadonlySet<RefusalCode> = new Set([
  "no_such_option",
  "ambiguous_answer",
  "missing_items",
  "answer_mismatch",
  "empty_answer",
  "outcome_not_accepted",
  "bad_input",
]);

/** Tells the truth about a refused reply, and how to answer if that is still possible here. */
export async function explainRefusal(
  refusal: Refusal,
  read: QuestionSnapshot | undefined,
  { decider, language }: { decider: Decider; language: Language },
): Promise<string> {
  const { rules } = decider.at(SYSTEM);
  const how = read && HELPED.has(refusal.code) ? sayHowToReply(questionMessage(read, "", rules, language)) : undefined;
  const elsewhere = refusal.code === "needs_person" ? refusal.hint : undefined;
  // A reply needs a confirmation only where its message does not show enough, and that is said in the reader's language.
  const what = refusal.code === "needs_confirmation" ? refusal.message : await sayInLanguage(refusal, language);
  const said = [what, how ?? elsewhere].filter((part) => part !== undefined).join(/[.!?…]$/.test(what) ? " " : ". ");
  return makeVisible(redactor([], rules.redact)(said));
}

/** A refusal in the language of its reader; English is what it says itself. */
async function sayInLanguage(refusal: Refusal, language: Language): Promise<string> {
  if (language === "en") return refusal.message;
  const { sayRefusal } = await import("../../core/text/refusal-sentence.ts");
  return sayRefusal({ language, span: formatDuration, status: (name) => name }, refusal);
}
