import { QuestionId, RunId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { NameReference } from "../../../store/store.ts";

const CANDIDATES = 6;
const LONGEST = 200;

/** Gets a run by number, name, external id, session, any id or the start of one. */
export async function getRun(engine: Engine, name: string): Promise<Run> {
  const found = await findRun(engine, name.trim());
  if (found) return found;
  throw new Refusal("not_found", "There is no such run");
}

async function findRun(engine: Engine, name: string) {
  const run = RunId.safeParse(name.toLowerCase());
  if (run.success) return engine.findRun(run.data);
  const question = QuestionId.safeParse(name.toLowerCase());
  if (question.success) return (await engine.read(question.data)).run;
  for (const ref of refsOf(name)) {
    const { runs, questions } = await engine.lookUp(ref, CANDIDATES);
    // Names repeat: prefer the run that waits, else the newest.
    const named = runs.find(({ pendingId }) => pendingId !== undefined) ?? runs[0];
    const only = questions.length === 1 && runs.length === 0 ? questions[0] : undefined;
    if (ref.by === "short" && runs.length + questions.length > 1) return undefined;
    if (named) return named;
    if (only) return engine.findRun(only.runId);
  }
  return undefined;
}

function refsOf(name: string): NameReference[] {
  if (name === "" || name.length > LONGEST) return [];
  const digits = /^#?(\d{1,15})$/.exec(name)?.[1];
  // A number is no start of an id: a run that does not exist would be taken for another.
  const short = /^(?:[qr][-_]|(?!\d+$))([0-9a-z]{4,16})$/i.exec(name)?.[1]?.toLowerCase();
  return [
    ...(digits === undefined ? [] : [{ by: "number" as const, number: Number(digits) }]),
    { by: "external", text: name },
    { by: "name", text: name },
    { by: "session", text: name },
    ...(short === undefined ? [] : [{ by: "short" as const, text: short }]),
  ];
}
