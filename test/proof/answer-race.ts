import { actorName, type Actor } from "../../src/core/people/actor.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import { type QuestionId } from "../../src/core/id.ts";
import type { Question } from "../../src/core/question/question.ts";
import { Refusal } from "../../src/core/refusal.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { AGENT } from "../builders.ts";
import { ROOMY, SCRIPT, said } from "../scene.ts";

/** What one person was told who answered at the same time as others. */
export interface Told {
  name: string;
  /** The id of the answer, if it was theirs that counted. */
  won?: string;
  /** The code and the words of the refusal, if not. */
  refused?: { code: string; message: string };
}

/** Lets these people answer at once and says what each of them was told. */
export type Answerer = (id: QuestionId, names: readonly string[]) => Promise<Told[]>;

export interface Raced {
  rounds: number;
  answers: number;
  slowestMs: number;
  /** One line for each promise that was broken. */
  problems: string[];
}

const PEOPLE_EACH = 25;

/** Asks one question a round, has everybody answer it at once, and looks whether one won and all were told so. */
export async function race(engine: Engine, answerers: readonly Answerer[], rounds: number): Promise<Raced> {
  const raced: Raced = { rounds, answers: 0, slowestMs: 0, problems: [] };
  for (let round = 1; round <= rounds; round += 1) {
    const asked = parseAsk({ question: `Round ${round}?`, options: ["Yes", "No"] }, SCRIPT, ROOMY, await engine.now());
    const { question } = await engine.ask(asked, AGENT);
    const startedMs = performance.now();
    const told = await Promise.all(answerers.map((answerer, index) => answerer(question.id, namesOf(index))));
    raced.slowestMs = Math.max(raced.slowestMs, performance.now() - startedMs);
    raced.answers += told.flat().length;
    const broken = await checkRound(engine, question.id, told.flat());
    raced.problems.push(...broken.map((what) => `round ${round}: ${what}`));
  }
  raced.problems.push(...(await engine.verify()).problems);
  return raced;
}

/** An answerer in this process. */
export function answererOn(engine: Engine): Answerer {
  return (id, names) =>
    Promise.all(
      names.map(async (name): Promise<Told> => {
        const by: Actor = { scope: "human", id: name, channel: "slack", strength: "person" };
        try {
          const { question } = await engine.answer(id, said("1"), by);
          return { name, won: question.status === "answered" ? question.answer.id : question.status };
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return { name, refused: { code: error.code, message: error.message } };
        }
      }),
    );
}

function namesOf(answerer: number): string[] {
  return Array.from({ length: PEOPLE_EACH }, (_, index) => `p${answerer}-${index}`);
}

async function checkRound(engine: Engine, id: QuestionId, told: readonly Told[]): Promise<string[]> {
  const { question, run } = await engine.read(id);
  const winners = told.filter((each) => each.won !== undefined);
  const winner = winners[0];
  if (winners.length !== 1 || winner === undefined) return [`${winners.length} people were told that they won`];
  const problems = checkAnswer(question, winner);
  const words = `already answered by ${winner.name} `;
  for (const { name, refused } of told) {
    if (refused && (refused.code !== "not_pending" || !refused.message.startsWith(words)))
      problems.push(`${name} was told "${refused.message}" (${refused.code}), but ${winner.name} won`);
  }
  const types = (await engine.readChain(run.id)).map(({ event }) => event.type);
  const count = (type: string): number => types.filter((each) => each === type).length;
  if (count("question.answered") !== 1) problems.push(`the trail has ${count("question.answered")} answers`);
  if (count("question.late_reply") !== told.length - 1)
    problems.push(`the trail has ${count("question.late_reply")} late replies of ${told.length - 1}`);
  return problems;
}

function checkAnswer(question: Question, winner: Told): string[] {
  if (question.status !== "answered") return [`the question is ${question.status}`];
  if (question.answer.id === winner.won && actorName(question.answer.by) === winner.name) return [];
  return [
    `${winner.name} won with ${winner.won}, the store has ${question.answer.id} of ${actorName(question.answer.by)}`,
  ];
}
