import { setImmediate as nextTurnOfTheLoop } from "node:timers/promises";
import type { Actor } from "../../src/core/people/actor.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import type { QuestionId, RunId } from "../../src/core/id.ts";
import { Refusal } from "../../src/core/refusal.ts";
import type { Done, Engine } from "../../src/engine/engine.ts";
import { ADA, AGENT } from "../builders.ts";
import { MCP, ROOMY, SCRIPT, said } from "../scene.ts";
import type { Acknowledged } from "./acknowledged.ts";

const LENA: Actor = { scope: "human", id: "lena", channel: "slack", strength: "person" };
const POLICIES = ["default", "proceed", "skip", "fail", "defer", "wait"];

interface Working {
  engine: Engine;
  acknowledge(done: Acknowledged): void;
  turn: number;
}

type Lane = (working: Working) => Promise<void>;

/** Asks, answers, cancels and lets time out in several lanes at once, and says what was acknowledged. */
export async function workload(
  engine: Engine,
  acknowledge: (done: Acknowledged) => void,
  turns: number,
): Promise<void> {
  const lanes = [askAndAnswer, holdAndGive, lookAfter, letTimeOut, answerLeftOver, answerTwice, letSettle];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let turn = 0; turn < turns; turn += 1) {
        await tolerant(() => lane({ engine, acknowledge, turn }));
        await nextTurnOfTheLoop(); // a lane that finds nothing to do must not starve the others
      }
    }),
  );
}

const askAndAnswer: Lane = async (working) => {
  const { question } = await ask(working, {});
  await answer(working, question.id, ADA);
};

const holdAndGive: Lane = async (working) => {
  const { engine, acknowledge } = working;
  const input = { name: "held", agent: "claude", host: "here", giveBack: "worker" as const };
  const run = await engine.createRun(input, AGENT);
  await engine.startRun(run.id, AGENT);
  const { question } = await ask(working, { hold: "3m" }, run.id);
  await answer(working, question.id, LENA);
  await engine.handOver(question.id);
  await engine.given(question.id, "tool result");
  acknowledge({ what: "given", id: question.id });
  await engine.endRun(run.id, { status: "completed" }, AGENT);
};

const lookAfter: Lane = async (working) => {
  const { engine, acknowledge } = working;
  const { question } = await ask(working, {});
  await engine.claim(question.id, ADA);
  await engine.extend(question.id, 60_000, ADA);
  await engine.cancel(question.id, { reason: "not now" }, ADA);
  acknowledge({ what: "cancelled", id: question.id });
};

const letTimeOut: Lane = async (working) => {
  const policy = POLICIES[working.turn % POLICIES.length];
  await ask(working, { timeout: 0.002, on_timeout: policy, default_answer: "1" });
  await working.engine.doDue();
};

/** Whatever a killed process left open is answered by a later one. */
const answerLeftOver: Lane = async (working) => {
  const open = await working.engine.listQuestions({ status: "pending", order: "oldest", limit: 10 });
  const one = open[working.turn % 10];
  if (one) await answer(working, one.id, LENA);
};

const answerTwice: Lane = async (working) => {
  const { question } = await ask(working, {});
  await Promise.all([ADA, LENA].map((by) => tolerant(() => answer(working, question.id, by))));
};

const letSettle: Lane = async (working) => {
  const { engine, acknowledge } = working;
  const asked = await ask(working, {});
  const { question } = await engine.answer(asked.question.id, said("2", { undoMs: 3 }), ADA);
  const outcome = question.status === "pending" ? question.settling?.answer.id : undefined;
  if (outcome) acknowledge({ what: "replied", id: question.id, outcome });
  await engine.doDue();
};

async function ask({ engine, acknowledge }: Working, raw: Record<string, unknown>, runId?: RunId): Promise<Done> {
  const shape = { question: "Redis or Memcached?", options: ["Redis", "Memcached"], timeout: "1h", ...raw };
  const input = parseAsk(shape, runId ? MCP : SCRIPT, ROOMY, await engine.now());
  const done = await engine.ask(input, AGENT, { ...(runId && { runId }) });
  acknowledge({ what: "asked", id: done.question.id });
  return done;
}

async function answer({ engine, acknowledge }: Working, id: QuestionId, by: Actor): Promise<void> {
  const { question } = await engine.answer(id, said("1"), by);
  if (question.status === "answered") acknowledge({ what: "answered", id, outcome: question.answer.id });
}

/** Others may be faster: then this turn is over. */
async function tolerant(turn: () => Promise<void>): Promise<void> {
  try {
    await turn();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}
