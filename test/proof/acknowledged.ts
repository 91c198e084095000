import { z } from "zod";
import { OutcomeId, QuestionId } from "../../src/core/id.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { Store } from "../../src/store/store.ts";

/** Something that somebody was told is done; it must be true for ever after. */
export const Acknowledged = z.discriminatedUnion("what", [
  z.object({ what: z.literal("asked"), id: QuestionId }),
  /** The reply can still be undone, but nobody does: it settles. */
  z.object({ what: z.literal("replied"), id: QuestionId, outcome: OutcomeId }),
  z.object({ what: z.literal("answered"), id: QuestionId, outcome: OutcomeId }),
  z.object({ what: z.literal("cancelled"), id: QuestionId }),
  z.object({ what: z.literal("given"), id: QuestionId }),
]);
export type Acknowledged = z.infer<typeof Acknowledged>;

const AT_ONCE = 100;

/** One line for each acknowledged thing that the store does not have. */
export async function findLost(store: Store, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const lost: string[] = [];
  for (let start = 0; start < acknowledged.length; start += AT_ONCE) {
    const some = acknowledged.slice(start, start + AT_ONCE);
    const questions = await Promise.all(some.map(({ id }) => store.findQuestion(id)));
    some.forEach((each, index) => {
      const question = questions[index];
      if (!question || !isKept(each, question)) lost.push(`lost: ${JSON.stringify(each)}, it is ${say(question)}`);
    });
  }
  return lost;
}

function isKept(acknowledged: Acknowledged, question: Question): boolean {
  switch (acknowledged.what) {
    case "asked":
      return true;
    case "replied":
      return question.status === "pending"
        ? question.settling?.answer.id === acknowledged.outcome
        : question.status === "answered" && question.answer.id === acknowledged.outcome;
    case "answered":
      return question.status === "answered" && question.answer.id === acknowledged.outcome;
    case "cancelled":
      return question.status === "cancelled";
    case "given":
      return question.status !== "pending" && question.handover.state === "given";
    default:
      return acknowledged satisfies never;
  }
}

function say(question: Question | undefined): string {
  if (!question) return "not there";
  return question.status === "answered" ? `answered with ${question.answer.id}` : question.status;
}
