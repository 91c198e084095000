import type { AnswerWhen, RunCase } from "./run-case.ts";
import { EVERY_START } from "./run-step.ts";
import type { Door, PlannedQuestion, RunPlan } from "./walk/plan.ts";

const WHEN: readonly AnswerWhen[] = ["held", "parking", "parked"];
/** How long an agent stays that was told to stop: not at all, a little, and longer than it is given. */
const LINGER_MS = [0, 2_000, 20_000];
/** Longer than a short stop, and shorter than what makes a worker count as gone. */
const NAP_MS = 4_000;

/** Runs that ask two or three times, whose agents still live when the answer comes. */
export function listSeveral(): RunCase[] {
  const worker = (step: string, nth: number, over: Omit<RunCase, "name">): RunCase => ({
    name: `worker ${step}@${nth}, ${sayCase(over)}`,
    ...over,
    worker: { step, nth, signal: "SIGKILL" },
  });
  const plain = (over: Omit<RunCase, "name">): RunCase => ({ name: `nobody dies, ${sayCase(over)}`, ...over });
  return [
    ...[2, 3].flatMap((questions) => WHEN.map((answer) => plain({ answer, questions }))),
    ...LINGER_MS.slice(1).flatMap((lingerMs) =>
      (["parking", "parked"] as const).map((answer) => plain({ answer, questions: 2, lingerMs })),
    ),
    ...EVERY_START.map((step) => worker(step, 2, { answer: "parking", questions: 2, lingerMs: 2_000 })),
    ...EVERY_START.map((step) => worker(step, 3, { answer: "parked", questions: 3 })),
    ...["read", "given", "gone", "ending"].map((step) => worker(step, 1, { answer: "held", questions: 3 })),
    ...["read", "gone", "ending"].map((step) => worker(step, 1, { answer: "parking", questions: 2, lingerMs: 20_000 })),
  ];
}

/** Workers that are stopped at each of their steps, until the run is over or for a while. */
export function listSleeping(): RunCase[] {
  const sleeper = (step: string, nth: number, over: Partial<RunCase>, words: string): RunCase => ({
    name: `worker sleeps${words} at ${step}@${nth}`,
    answer: "parked",
    ...over,
    worker: { step, nth, signal: "SIGSTOP" },
  });
  return EVERY_START.flatMap((step) => [
    sleeper(step, 1, {}, ""),
    sleeper(step, 2, {}, ""),
    sleeper(step, 2, { wakeAfterMs: NAP_MS, questions: 2, lingerMs: 2_000, answer: "parking" }, " a little"),
  ]);
}

/** Programs that ask by `askd ask --wait` and ask again, by a marker, and without waiting. */
export function listScripted(): RunCase[] {
  const plans: Array<[string, RunPlan]> = [
    [
      "waits three times",
      planOf([
        ["wait", 0],
        ["wait", 0],
        ["wait", 0],
      ]),
    ],
    [
      "waits, then asks again",
      planOf([
        ["wait", 0],
        ["ask", 2_000],
        ["marker", 0],
      ]),
    ],
    ...LINGER_MS.map((ms): [string, RunPlan] => [
      `asks twice, stays ${ms} ms`,
      planOf([
        ["marker", ms],
        ["marker", ms],
      ]),
    ]),
    [
      "asks by MCP, then waits",
      planOf([
        ["mcp", 2_000],
        ["wait", 2_000],
      ]),
    ],
  ];
  const steps = ["taken", "started", "read", "gone", "kept", "ending"];
  const [, second] = plans[1] ?? [];
  const lingering = plans[3]?.[1];
  return [
    ...plans.flatMap(([words, plan]) =>
      WHEN.map((answer): RunCase => ({ name: `program ${words}, ${sayCase({ answer })}`, answer, plan })),
    ),
    ...steps.flatMap((step) =>
      [1, 2].flatMap((nth): RunCase[] => [
        ...killedIn("waits, then asks again", second, step, nth),
        ...killedIn("asks twice, stays", lingering, step, nth),
      ]),
    ),
  ];
}

function killedIn(words: string, plan: RunPlan | undefined, step: string, nth: number): RunCase[] {
  if (!plan) return [];
  const worker = { step, nth, signal: "SIGKILL" as const };
  return [{ name: `worker ${step}@${nth}, program ${words}`, answer: "parking", plan, worker }];
}

/** A plan that asks through these doors, staying so long each time that it has no answer. */
function planOf(doors: ReadonlyArray<readonly [Door, number]>): RunPlan {
  const questions = doors.map(([door, lingerMs], index): PlannedQuestion => {
    const tag = `k1-${index + 1}`;
    const options = ["redis", "memcached"].map((name) => ({ value: `${name}-${tag}`, label: `${name} for ${tag}` }));
    const ask = { question: `Which cache for ${tag}?`, options, timeout: "1h", on_timeout: "fail" };
    const common = { tag, door, ask, lingerMs, waitMs: 1_000, isJson: false, isPushy: false, isSly: false };
    return { ...common, leave: lingerMs > 2_000 ? "never" : 0 };
  });
  return { tag: "k1", questions, workMs: 20, end: 0, isDeaf: false, dies: undefined };
}

function sayCase({ answer, questions, lingerMs }: Omit<RunCase, "name">): string {
  const asked = questions === undefined ? "" : `${questions} questions, `;
  const stays = lingerMs === undefined ? "" : `stays ${lingerMs} ms, `;
  return `${asked}${stays}answered when ${answer}`;
}
