import type { AnswerWhen, RunCase } from "./run-case.ts";
import { listScripted, listSeveral, listSleeping } from "./run-list-several.ts";
import { EVERY_START } from "./run-step.ts";

/** Where an agent can die: on its first start, and when it is resumed at its call. */
const FIRST = ["begin", "queued", "prompted", "init", "said", "working", "called", "hooking", "hooked", "deferring"];
const LATER = [
  "begin",
  "resumed",
  "hooking",
  "hooked",
  "recording",
  "recorded",
  "shown",
  "working",
  "final",
  "reported",
];
const HOOK_MS = [0, 60, 120, 200, 350, 700, 1_300];

const SHORT: ReadonlySet<string> = new Set([
  ...["taken", "started", "given"].map((step) => `worker ${step}@${step === "given" ? 1 : 2}, answered when parked`),
  "worker ending@1, answered when parking",
  "worker sleeps at starting@2",
  "agent deferring@1",
  "agent begin@2",
  "agent recording@2",
  "agent recorded@2",
  "hook killed when asked",
  "hook killed when answered, answered when held",
  "cancelled after its worker died at taken",
  "nobody dies, 2 questions, stays 2000 ms, answered when parking",
  "worker gone@2, 2 questions, stays 2000 ms, answered when parking",
  "worker sleeps a little at read@2",
  "program waits, then asks again, answered when parking",
  "worker ending@2, program asks twice, stays",
]);

/** Every point at which somebody can die or be stopped in the life of a run. */
export function listCases(): RunCase[] {
  const worker = (step: string, nth: number, answer: AnswerWhen): RunCase => ({
    name: `worker ${step}@${nth}, answered when ${answer}`,
    answer,
    worker: { step, nth, signal: "SIGKILL" },
  });
  return [
    ...EVERY_START.map((step) => worker(step, 1, "parked")),
    ...EVERY_START.map((step) => worker(step, 2, "parked")),
    worker("given", 1, "parked"),
    ...["gone", "kept", "ending"].map((step) => worker(step, 1, "parking")),
    ...["read", "given", "gone", "ending"].map((step) => worker(step, 1, "held")),
    ...FIRST.map((step): RunCase => ({ name: `agent ${step}@1`, answer: "parked", agent: `${step}@1` })),
    ...LATER.map((step): RunCase => ({ name: `agent ${step}@2`, answer: "parked", agent: `${step}@2` })),
    ...["hooked", "recorded", "shown"].map((step): RunCase => ({
      name: `agent ${step}@1, answered when held`,
      answer: "held",
      agent: `${step}@1`,
    })),
    ...[...HOOK_MS, "output"].flatMap((when): RunCase[] => [
      { name: `hook ${when}@1`, answer: "parked", hook: `${when}@1` },
      { name: `hook ${when}@1, answered when held`, answer: "held", hook: `${when}@1` },
      ...(Number(when) > 350 ? [] : [{ name: `hook ${when}@2`, answer: "parked" as const, hook: `${when}@2` }]),
    ]),
    ...(["asked", "answered"] as const).flatMap((hookWhen): RunCase[] => [
      { name: `hook killed when ${hookWhen}`, answer: "parked", hookWhen },
      { name: `hook killed when ${hookWhen}, answered when held`, answer: "held", hookWhen },
    ]),
    {
      name: "worker dies while the agent works",
      answer: "held",
      workMs: 3_000,
      worker: { step: "given", nth: 1, signal: "SIGKILL" },
    },
    { name: "cancelled while its agent works", answer: "held", workMs: 60_000, cancel: "working" },
    ...["taken", "starting", "started", "read"].map((step): RunCase => ({
      name: `cancelled after its worker died at ${step}`,
      answer: "held",
      workMs: 60_000,
      cancel: "orphaned",
      worker: { step, nth: 1, signal: "SIGKILL" },
    })),
    { name: "nobody dies", answer: "parked" },
    { name: "nobody dies, answered when held", answer: "held" },
    { name: "nobody dies, answered when parking", answer: "parking" },
    ...listSeveral(),
    ...listSleeping(),
    ...listScripted(),
  ];
}

/** One of each kind, for every day. */
export function listShort(): RunCase[] {
  return listCases().filter(({ name }) => SHORT.has(name));
}

/** A worker that dies at any moment. */
export function randomCase(): RunCase {
  const event = Math.random() < 0.5 ? ("start" as const) : ("answer" as const);
  const answer = (["held", "parking", "parked"] as const)[Math.floor(Math.random() * 3)] ?? "held";
  const ms = Math.round(Math.random() * (event === "start" ? 2_500 : 1_000));
  return { name: `worker ${event}+random, answered when ${answer}`, answer, workerAfter: { event, ms } };
}
