import { requireAccess } from "../../core/people/access.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { QuestionId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { readOwn } from "../rest/call.ts";
import { type Asker, askerOf } from "./asker.ts";
import type { ToolCall } from "./caller.ts";

/** The question of that id, if it belongs to the run that asks; without an id the one that run asked last. */
export async function getOwnQuestion(call: ToolCall, id: string | undefined): Promise<QuestionSnapshot> {
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
  return readAsker(call, asker, parsed.data);
}

/** The question if the caller may read it: by its token, or by the run that it was started for. */
export async function readAsker(
  { caller, deps }: ToolCall,
  { owner }: Asker,
  id: QuestionId,
): Promise<QuestionSnapshot> {
  const { engine } = deps;
  const { bearer } = caller;
  if (bearer?.scope === "agent") return readOwn({ engine, bearer: owner }, id);
  const read = await engine.read(id);
  if (caller.runId !== undefined) requireAccess("look", owner, read.question);
  return read;
}
