import type { QuestionSnapshot } from "../../../core/changes.ts";
import { actorName } from "../../../core/people/actor.ts";
import { type Amendment, type Question, isHandoverOpen } from "../../../core/question/question.ts";
import type { Engine } from "../../../engine/engine.ts";
import { handOverOutcome, readOwedCorrections } from "../../../engine/hold-question.ts";
import { findProvenRun } from "../../actor.ts";
import type { Context } from "../../context.ts";
import { sayBy } from "../../view/run-text.ts";
import { oneLine } from "../../view/sanitise.ts";
import { shortId } from "../../../core/id.ts";
import { isTakenHere } from "./taken-here.ts";

/** Corrections of earlier answers of the run, which reach its agent with the next outcome. */
export interface EarlierCorrections {
  said: ReadonlyArray<{ question: Question; amendment: Amendment }>;
  /** Commits that they were given, to be called once they are written out, before the outcome they came with. */
  confirm(): Promise<void>;
}

/** Commits that corrections are about to be written out with an outcome of the run of this process. */
export async function bringCorrections(
  outcome: QuestionSnapshot,
  witness: string,
  engine: Engine,
  context: Context,
): Promise<EarlierCorrections> {
  const owed = (await readOwedCorrections(engine, outcome)).filter((read) => isTakenHere(read, context));
  if (owed.length > 0) await findProvenRun(engine, context); // an agent takes no corrections of another run
  const brought = await Promise.all(
    owed.map((read) => handOverOutcome(engine, read, { witness, epoch: read.run.epoch })),
  );
  const said = brought.flatMap(({ read: { question } }) =>
    question.amendments
      .filter(({ handover }) => isHandoverOpen(handover))
      .map((amendment) => ({ question, amendment })),
  );
  const confirm = async () => {
    for (const each of brought) await each.confirm?.();
  };
  return { said, confirm };
}

/** `correction by ada (cli) of q-7k3f "Redis or Memcached?": rather the cluster` */
export function sayCorrections({ said }: EarlierCorrections): string[] {
  return said.map(
    ({ question, amendment: { by, text } }) =>
      `correction by ${sayBy(by)} of ${shortId(question.id)} "${oneLine(question.title)}": ${oneLine(text)}\n`,
  );
}

/** The field `corrections` of the JSON; absent without any. */
export function viewCorrections({ said }: EarlierCorrections): object {
  if (said.length === 0) return {};
  const corrections = said.map(({ question, amendment: { text, by, at } }) => ({
    question_id: question.id,
    text,
    by: actorName(by),
    at,
  }));
  return { corrections };
}
