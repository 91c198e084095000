import { requireOwnRun } from "../../core/access.ts";
import type { Read } from "../../core/changes.ts";
import { quoteLine } from "../../core/foreign-text.ts";
import { QuestionId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { askerOf } from "./asker.ts";
import type { ToolCall } from "./caller.ts";

/** The question of that id, if it belongs to the run that asks; without an id the one that run asked last. */
export async function getOwnQuestion(call: ToolCall, id: string | undefined): Promise<Read> {
  const asker = await askerOf(call);
  const wanted = id ?? asker.run?.pendingId ?? asker.run?.lastQuestionId;
  if (wanted === undefined) {
    throw new Refusal("bad_input", "Which question? You have not asked any in this session", {
      hint: "Pass question_id as ask_human returned it",
    });
  }
  const parsed = QuestionId.safeParse(wanted.trim());
  // Short ids are for people: they authorise nothing.
  if (!parsed.success) {
    throw new Refusal("bad_input", `${quoteLine(wanted, 40)} is not the id of a question`, {
      hint: "Pass question_id as ask_human returned it: q_ and 26 characters",
    });
  }
  const read = await call.deps.engine.read(parsed.data);
  if (call.caller.runId !== undefined) requireOwnRun(read.question, asker.by);
  return read;
}
