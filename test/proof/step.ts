import fc from "fast-check";
import { Outcome } from "../../src/core/question/question.ts";
import { TimeoutPolicy } from "../../src/core/question/timeout-policy.ts";

/** One thing that somebody does; `q` and `run` count back from the newest and round again, `by` names a person. */
export type Step =
  | { do: "ask"; run: number | undefined; by: string; raw: Record<string, unknown>; door: "cli" | "mcp" }
  | { do: "createRun"; giveBack: "worker" | "poll"; session: string | undefined }
  | { do: "startRun" | "resumeRun"; run: number }
  | { do: "endRun"; run: number; status: "completed" | "failed" | "blocked" }
  | { do: "cancelRun"; run: number; by: string }
  | { do: "answer"; q: number; by: string; input: Said }
  | { do: "undo" | "claim" | "release" | "escalate" | "comment" | "assign"; q: number; by: string }
  | { do: "amend"; q: number; by: string; resume: boolean }
  | { do: "snooze" | "extend"; q: number; by: string; ms: number }
  | { do: "cancel"; q: number; by: string; resume: string | undefined }
  | { do: "endHold"; q: number; why: "window" | "gone" }
  | { do: "handOver" | "given"; q: number }
  | { do: "pass"; ms: number };

export interface Said {
  answer: string;
  outcome: Outcome;
  force: boolean;
  confirmed: boolean;
  undoMs: number;
  resume: boolean;
}

const MOST_STEPS = 40;
const MINUTE_MS = 60_000;

const CARE = ["undo", "claim", "release", "escalate", "comment", "assign"] as const;

const q = fc.nat(3);
const run = fc.nat(2);
const by = fc.constantFrom("ada", "ada", "ada", "lena", "lena", "bob", "agent");
const sometimes = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });

const raw = fc.record({
  question: fc.constantFrom("Redis or Memcached?", "Deploy now?"),
  options: fc.constantFrom(["Redis", "Memcached"], ["allow", "deny"], ["Yes (recommended)", "No"]),
  kind: fc.constantFrom("question", "question", "approval"),
  risk: fc.constantFrom("low", "low", "medium", "high"),
  confidence: sometimes(fc.constantFrom(0.3, 0.9)),
  timeout: fc.constantFrom("1m", "20m", "2h"),
  on_timeout: fc.oneof(
    fc.constantFrom(...TimeoutPolicy.options),
    fc.record({
      do: fc.constant("escalate"),
      steps: fc.constant([{ after: "5m", to: ["lena"], channels: ["slack"] }, { after: "5m" }]),
      then: fc.constantFrom(...TimeoutPolicy.exclude(["escalate", "default"]).options),
    }),
  ),
  default_answer: fc.constant("1"),
  hold: sometimes(fc.constantFrom("1m", "3m")),
  after_hold: fc.constantFrom("park", "proceed"),
  key: sometimes(fc.constantFrom("k1", "k2")),
  approvals: sometimes(
    fc.record({
      need: fc.constantFrom(1, 2),
      veto: fc.boolean(),
      from: fc.constantFrom([], ["ada", "lena"], ["ada", "lena", "bob"]),
    }),
  ),
});

const input: fc.Arbitrary<Said> = fc.record({
  answer: fc.constantFrom("1", "2", "why?", "allow", "deny", ""),
  outcome: fc.constantFrom("answer", "answer", "answer", ...Outcome.options),
  force: fc.boolean(),
  confirmed: fc.boolean(),
  undoMs: fc.constantFrom(0, 0, 10_000, 30 * MINUTE_MS),
  resume: fc.constantFrom(true, true, false),
});

const passing = fc.constantFrom(1_000, 10_000, MINUTE_MS, 3 * MINUTE_MS + 15_000, 20 * MINUTE_MS, 150 * MINUTE_MS);
const ask: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("ask" as const),
  run: sometimes(run),
  by: fc.constant("agent"),
  raw: raw.map((fields) => JSON.parse(JSON.stringify(fields)) as Record<string, unknown>), // an object of JSON
  door: fc.constantFrom("cli" as const, "mcp" as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: ask },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("answer" as const), q, by, input }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: passing }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("createRun" as const),
      giveBack: fc.constantFrom("worker" as const, "worker" as const, "poll" as const),
      session: sometimes(fc.constantFrom("s1", "s2")),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("startRun" as const, "resumeRun" as const), run }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("endRun" as const),
      run,
      status: fc.constantFrom("completed" as const, "failed" as const, "blocked" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancelRun" as const), run, by }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(...CARE),
      q,
      by,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("amend" as const), q, by, resume: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("snooze" as const, "extend" as const), q, by, ms: passing }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("cancel" as const), q, by, resume: sometimes(fc.constant("go on")) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("endHold" as const),
      q,
      why: fc.constantFrom("window" as const, "gone" as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("handOver" as const, "given" as const), q }) },
);

/** Any sequence of what people, agents and time can do; nothing can be done before something was asked. */
export const steps: fc.Arbitrary<Step[]> = fc
  .tuple(ask, fc.array(step, { maxLength: MOST_STEPS - 1, size: "max" }))
  .map(([first, rest]) => [first, ...rest]);
