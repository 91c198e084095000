import type { Actor } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import type { QuestionId, RunId } from "../../src/core/id.ts";
import { type Instant, later } from "../../src/core/instant.ts";
import { Refusal } from "../../src/core/refusal.ts";
import type { Rules } from "../../src/core/rules.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { ADA, AGENT } from "../builders.ts";
import { MCP, SCRIPT } from "../scene.ts";
import type { Step } from "./step.ts";

/** What a step can name, oldest first. */
export interface Known {
  questions: readonly QuestionId[];
  runs: readonly RunId[];
  now: Instant;
  rules: Rules;
}

/** Does a step and says what became of it: done, refused with a code, or nothing to do it to. */
export async function perform(engine: Engine, step: Step, known: Known): Promise<string> {
  try {
    return (await start(engine, step, known)) ? "done" : "nothing";
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** What the step does, or nothing if what it names is not there. */
async function start(engine: Engine, step: Step, known: Known): Promise<boolean> {
  if (step.do === "pass") await engine.doDue();
  else if (step.do === "ask") await ask(engine, step, known);
  else if (step.do === "createRun") {
    const { giveBack, session } = step;
    await engine.createRun({ agent: "claude", host: "here", giveBack, ...(session && { session }) }, AGENT);
  } else if ("run" in step) {
    const id = pick(known.runs, step.run);
    if (id) await changeRun(engine, id, step);
    return id !== undefined;
  } else {
    const id = pick(known.questions, step.q);
    if (id) await changeQuestion(engine, id, step, known.now);
    return id !== undefined;
  }
  return true;
}

async function ask(engine: Engine, step: Extract<Step, { do: "ask" }>, known: Known): Promise<void> {
  const input = parseAsk(step.raw, step.door === "cli" ? SCRIPT : MCP, known.rules, known.now);
  const runId = step.run === undefined ? undefined : pick(known.runs, step.run);
  await engine.ask(input, actor(step.by), { ...(runId && { runId }) });
}

type RunStep = Extract<Step, { run: number }>;

async function changeRun(engine: Engine, id: RunId, step: RunStep): Promise<unknown> {
  switch (step.do) {
    case "startRun":
      return engine.startRun(id, AGENT);
    case "resumeRun":
      return engine.resumeRun(id, ADA);
    case "endRun":
      return engine.endRun(id, { status: step.status }, AGENT);
    case "cancelRun":
      return engine.cancelRun(id, actor(step.by));
    default:
      return step satisfies never;
  }
}

async function changeQuestion(engine: Engine, id: QuestionId, step: Extract<Step, { q: number }>, now: Instant) {
  const by = "by" in step ? actor(step.by) : AGENT;
  switch (step.do) {
    case "answer":
      return engine.answer(id, AnswerInput.parse(step.input), by);
    case "undo":
    case "claim":
    case "release":
    case "escalate":
      return engine[step.do](id, by);
    case "comment":
      return engine.comment(id, "looking into it", by);
    case "assign":
      return engine.assign(id, ["lena"], by);
    case "amend":
      return engine.amend(id, "the other one after all", by, { resume: step.resume });
    case "snooze":
      return engine.snooze(id, later(now, step.ms), by);
    case "extend":
      return engine.extend(id, step.ms, by);
    case "cancel":
      return engine.cancel(id, { ...(step.resume && { resume: step.resume }) }, by);
    case "endHold":
      return engine.endHold(id, step.why);
    case "handOver":
      return engine.handOver(id);
    case "given":
      return engine.given(id, "prompt");
    default:
      return step satisfies never;
  }
}

/** Counts back from the newest, and round again. */
function pick<Id>(ids: readonly Id[], back: number): Id | undefined {
  return ids.at(-1 - (back % Math.max(1, ids.length)));
}

function actor(name: string): Actor {
  if (name === "agent") return AGENT;
  return name === "ada" ? ADA : { scope: "human", id: name, channel: "slack", strength: "person" };
}
