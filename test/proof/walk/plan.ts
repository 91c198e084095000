import type { Chance } from "./chance.ts";

/** How an agent asks inside its run. */
export type Door = "marker" | "result" | "ask" | "wait" | "mcp";
/** How an agent ends: with an exit code, by a signal that it sends itself, or not until it is stopped. */
export type Leaving = 0 | 1 | 3 | "SIGTERM" | "SIGKILL" | "never";

/** One question that an agent is going to ask. */
export interface PlannedQuestion {
  /** Stands in the text of the question and names it everywhere. */
  tag: string;
  door: Door;
  ask: Ask;
  /** How long the agent waits for the answer with the call open. */
  waitMs: number;
  /** Prints JSON where it waits on the command line. */
  isJson: boolean;
  /** What it does when it has asked and has no answer: stays so long, then leaves like this. */
  lingerMs: number;
  leave: Leaving;
  /** Asks something else although this is not answered. */
  isPushy: boolean;
  /** Tries to answer its own question. */
  isSly: boolean;
}

/** Everything that one agent is going to do over all its starts. */
export interface RunPlan {
  tag: string;
  questions: PlannedQuestion[];
  workMs: number;
  end: Leaving;
  /** Does not listen to SIGTERM. */
  isDeaf: boolean;
  /** The start in which it dies: before it reads what it is told, or right after. */
  dies: { start: number; when: "unread" | "told" } | undefined;
}

/** An ask as it goes over any door, in the words of the product. */
export interface Ask {
  question: string;
  options?: Array<{ value: string; label: string; recommended?: boolean }>;
  multiple?: boolean;
  allow_text?: boolean;
  kind?: "approval";
  risk?: "high";
  timeout: string;
  on_timeout: string | { do: "escalate"; steps: Array<{ after: string; to: string[] }>; then: string };
  default_answer?: string;
  accepts?: string[];
  approvals?: { need: number; from?: string[]; veto?: boolean };
}

export const PEOPLE = ["ada", "lena", "bob"] as const;
export type Person = (typeof PEOPLE)[number];
const NEVER_MS = 3_600_000;
/** How long a deadline is that a walk is meant to see pass. */
const SHORT_MS = [400, 900, 1_500, 2_500];

/** Makes up what one agent does: two to four questions, each asked in its own way. */
export function makePlan(tag: string, chance: Chance): RunPlan {
  const count = chance.between(2, 4);
  return {
    tag,
    questions: Array.from({ length: count }, (_, index) => makeQuestion(`${tag}-${index + 1}`, chance)),
    workMs: chance.pick([0, 0, 20, 150]),
    end: chance.pick([0, 0, 0, 0, 0, 0, 1, 3, "SIGTERM", "SIGKILL"]),
    isDeaf: chance.is(0.05),
    dies: chance.is(0.12) ? { start: chance.between(2, 4), when: chance.pick(["unread", "told", "told"]) } : undefined,
  };
}

function makeQuestion(tag: string, chance: Chance): PlannedQuestion {
  const door = chance.weighted<Door>({ marker: 8, result: 2, ask: 2, wait: 4, mcp: 1 });
  return {
    tag,
    door,
    ask: makeAsk(tag, chance),
    waitMs: chance.pick([300, 800, 2_000]),
    isJson: chance.is(0.5),
    lingerMs: chance.pick([0, 0, 0, 200, 200, 600, 1_200, 3_000]),
    // Who asks on the command line and does not wait may go on with something else for as long as it likes.
    leave: chance.pick([0, 0, 0, 0, 0, 0, 1, 3, "SIGTERM", "SIGKILL", door === "ask" ? 0 : "never"]),
    isPushy: chance.is(0.04),
    isSly: chance.is(0.03),
  };
}

/** Makes up what is asked; every option and every default carries the tag, so that it can be told apart when it is read. */
export function makeAsk(tag: string, chance: Chance): Ask {
  const isApproval = chance.is(0.08);
  const isFree = !isApproval && chance.is(0.15);
  const values = isApproval ? ["allow", "deny"] : ["redis", "disk", "tape"].map((name) => `${name}-${tag}`);
  const labels = isApproval ? ["Allow", "Deny"] : ["Redis", "Disk", "Tape"].map((name) => `${name} for ${tag}`);
  const isVoted = chance.is(0.1);
  return {
    question: `Which store for ${tag}?`,
    ...(!isFree && { options: values.map((value, index) => ({ value, label: labels[index] ?? value })) }),
    ...(!isApproval && !isFree && chance.is(0.3) && { multiple: true }),
    ...((isApproval || (!isFree && chance.is(0.15))) && { allow_text: false }),
    ...(isApproval && { kind: "approval" as const }),
    ...(chance.is(0.04) && { risk: "high" as const }),
    ...makeDeadline(tag, { isApproval, isFree }, chance),
    ...(chance.is(0.6) && { accepts: ["answer", "decide", "clarify"] }),
    ...(isVoted && { approvals: { need: chance.pick([2, 2, 1]), veto: chance.is(0.5), from: makeVoters(chance) } }),
  };
}

function makeVoters(chance: Chance): string[] {
  return chance.is(0.5) ? [...PEOPLE] : [];
}

type Deadline = Pick<Ask, "timeout" | "on_timeout" | "default_answer">;

function makeDeadline(
  tag: string,
  { isApproval, isFree }: { isApproval: boolean; isFree: boolean },
  chance: Chance,
): Deadline {
  const isSeen = chance.is(0.3);
  const timeout = `${isSeen ? chance.pick(SHORT_MS) : NEVER_MS}ms`;
  const policies = { wait: 1, proceed: 2, skip: 1.5, default: 2, escalate: 2, fail: 2.5, defer: 1.5 };
  const silent = isApproval ? { ...policies, proceed: 0, default: 0 } : policies;
  const policy = chance.weighted(silent);
  if (policy === "default")
    return { timeout, on_timeout: policy, default_answer: isFree ? `tape-${tag}` : `disk-${tag}` };
  if (policy !== "escalate") return { timeout, on_timeout: policy };
  const steps = ["lena", "bob"].map((to) => ({ after: `${chance.pick(SHORT_MS)}ms`, to: [to] }));
  const then = chance.pick(
    isApproval ? ["fail", "skip", "wait", "defer"] : ["fail", "skip", "wait", "defer", "proceed"],
  );
  return { timeout, on_timeout: { do: "escalate", steps: steps.slice(0, chance.between(1, 2)), then } };
}
