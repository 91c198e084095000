import type { Question } from "../core/question/question.ts";
import type { Run } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";

/** Finds the owner of a name that a commit found taken: the same key in this run, or the run of the same session. */
export async function findDuplicate(
  store: Store,
  run: Run,
  key: string,
): Promise<{ run: Run; question: Question | undefined } | undefined> {
  const mine = await store.findQuestionByKey(run.id, key);
  if (mine) return { run, question: mine };
  if (run.session === undefined) return undefined;
  const { runs } = await store.lookUp({ by: "session", text: run.session }, 10);
  const theirs = runs.find((each) => each.host === run.host && each.agent === run.agent);
  if (!theirs) return undefined;
  return { run: theirs, question: await store.findQuestionByKey(theirs.id, key) };
}
