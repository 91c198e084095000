import { expect, test } from "vitest";
import { IDS, NOON, aQuestion, aRun, answered } from "../../../test/builders.ts";
import { SYSTEM } from "../people/actor.ts";
import { countFailedAttempts, readResumeAttempts } from "./resume-attempt.ts";
import { endOwnedRun, requeueRun, claimRun } from "./run-ownership.ts";
import type { DecisionContext, Changes } from "../changes.ts";
import type { Event } from "../trail/event.ts";
import { give } from "./handover.ts";
import { MINUTE_MS, later } from "../instant.ts";
import { cancelRun } from "./run-lifecycle.ts";
import type { Question } from "../question/question.ts";
import { DEFAULT_RULES } from "../rules.ts";
import type { Run } from "./run.ts";

const ME = IDS.worker();

/** A run that is owed an answer, and what is done with it step by step, a minute apart. */
class Trail {
  run: Run;
  open: Question[];
  readonly events: Event[] = [];
  #minutes = 0;

  constructor() {
    const run = aRun({ status: "resuming", epoch: 1, session: "s", giveBack: "worker" });
    const question = answered(aQuestion({ runId: run.id }));
    this.run = { ...run, owes: [question.id] };
    this.open = [question];
  }

  do(decide: (at: DecisionContext) => Changes): this {
    this.#minutes += 1;
    const now = later(NOON, this.#minutes * MINUTE_MS);
    const changes = decide({ now, by: SYSTEM, ids: IDS, rules: DEFAULT_RULES });
    this.run = changes.runs?.[0] ?? this.run;
    this.open = this.open.map((question) => changes.questions?.find(({ id }) => id === question.id) ?? question);
    this.events.push(...(changes.events ?? []));
    return this;
  }

  take(): this {
    return this.do((at) => claimRun(this, { worker: ME }, at));
  }

  get carrier() {
    return { worker: ME, epoch: this.run.epoch };
  }
}

test("a run that took its answer at once was tried once", () => {
  const trail = new Trail().take();
  trail.do((at) => give({ run: trail.run, question: trail.open[0]! }, { witness: "record" }, at));
  expect(readResumeAttempts(trail.events)).toMatchObject([{ epoch: 2, worker: ME, end: { state: "taken" } }]);
  expect(countFailedAttempts(readResumeAttempts(trail.events))).toBe(0);
});

test("each try says why it failed, when the next was due, and that it was given up", () => {
  const trail = new Trail().take();
  trail.do((at) => requeueRun(trail, trail.carrier, "spawn claude ENOENT", at)).take();
  for (let tries = 0; tries < 4; tries += 1) {
    trail.do((at) => endOwnedRun(trail, trail.carrier, { status: "completed" }, at)).take();
  }
  const attempts = readResumeAttempts(trail.events);
  expect(attempts.map(({ epoch }) => epoch)).toEqual([2, 3, 4, 5, 6]);
  expect(attempts.map(({ end }) => end?.why)).toEqual([
    "never_started",
    "not_taken",
    "not_taken",
    "not_taken",
    "given_up",
  ]);
  expect(attempts[0]?.end).toMatchObject({ failure: "spawn claude ENOENT", nextMs: 0 });
  expect(attempts.map((_, index) => countFailedAttempts(attempts.slice(0, index + 1)))).toEqual([1, 2, 3, 4, 5]);
  expect(attempts[2]?.end?.nextMs).toBe(5_000);
});

test("a try that is under way has no end, and one that somebody stops says so", () => {
  const trail = new Trail().take();
  expect(readResumeAttempts(trail.events)[0]?.end).toBeUndefined();
  trail.do((at) => cancelRun(trail, "not needed", at));
  expect(readResumeAttempts(trail.events)[0]?.end?.state).toBe("stopped");
});
