import { formatDuration } from "../../core/text/duration.ts";
import type { MeasuredLimits } from "../../core/door/measured-limits.ts";
import { type Instant, SECOND_MS } from "../../core/instant.ts";
import { type ProbeAt, START_MS, type ProbeObservation, type ProbeTrial, runTrial } from "./probe-case.ts";

/** A limit that is short enough to be met at once, and a hold that goes well beyond it. */
const LIMIT_MS = 3 * SECOND_MS;
const HOLD_MS = 7 * SECOND_MS;
const PROGRESS_MS = SECOND_MS;
const SHORT_MS = SECOND_MS;
/** How far from its limit a call may end and still count as ended by it: machines are busy. */
const NEAR_MS = 2 * SECOND_MS;
/** Time between our reply and the moment when the client gives up. */
const MARGIN_MS = 15 * SECOND_MS;
/** Claude Code looks for silence every 30 s, however short the limit for it is. */
const IDLE_HOLD_MS = 40 * SECOND_MS;
const IDLE_PROGRESS_MS = 5 * SECOND_MS;
const LEAST_HOLD_MS = 5 * SECOND_MS;

/** One thing that was measured, or that was not. */
export interface Measurement {
  what: string;
  /** The result; undefined if nothing was measured. */
  result: string | undefined;
  why?: string;
}

export interface ProbeResult {
  measured: MeasuredLimits;
  lines: Measurement[];
}

export interface ProbeOptions extends ProbeAt {
  version: string;
  now: Instant;
  /** All of it ends within this time. */
  maxMs: number;
  /** Hears what is tried now. */
  onStep(text: string): void;
}

/** Measures with the real program what an agent does with our tool: mechanisms with short limits, then one long call. */
export async function probe(options: ProbeOptions): Promise<ProbeResult> {
  const budget = new Budget(options.maxMs);
  const lines: Measurement[] = [];
  const { client, version, now } = options;
  const measured: MeasuredLimits = { agent: client.name, version, measuredAt: now };
  for (const step of STEPS) {
    const about = step.about(options);
    if (about === undefined) continue;
    if (!budget.has(step.trial.holdMs)) {
      lines.push({ what: about, result: undefined, why: "no time left; say --max 10m" });
      continue;
    }
    options.onStep(about);
    const seen = await budget.spend(() => runTrial(step.trial, options));
    if (seen.failure !== undefined) {
      lines.push({ what: about, result: undefined, why: seen.failure });
      continue;
    }
    const { fields, result } = step.read(seen, options);
    Object.assign(measured, fields);
    lines.push({ what: about, ...(result === undefined ? { result, why: sayUnclear(seen) } : { result }) });
  }
  lines.push(await holdLong(options, budget, measured));
  return { measured, lines };
}

interface Step {
  trial: ProbeTrial;
  /** The measured limit, in words; undefined if the client has no such limit. */
  about(options: ProbeOptions): string | undefined;
  read(seen: ProbeObservation, options: ProbeOptions): { fields: Partial<MeasuredLimits>; result: string | undefined };
}

const STEPS: readonly Step[] = [
  {
    trial: { holdMs: SHORT_MS },
    about: () => "tool offered to the model, as askd init wires it",
    read: ({ isOffered, call }) => ({
      fields: { isOffered, ...(call?.client && { client: call.client }) },
      result: isOffered ? (call?.isHeld ? "yes, and called" : undefined) : "no",
    }),
  },
  {
    trial: { holdMs: SHORT_MS, without: "alwaysLoad" },
    about: (options) => (hasAlwaysLoad(options) ? "tool offered without alwaysLoad" : undefined),
    read: ({ isOffered }) => ({
      fields: {},
      result: isOffered ? "yes" : "no: it is needed",
    }),
  },
  {
    trial: { holdMs: SHORT_MS, without: "leave" },
    about: () => "call allowed without a rule or setting",
    read: ({ isOffered, call }) => {
      const isAllowed = isOffered && call?.isHeld === true;
      return { fields: {}, result: isAllowed ? "yes" : "no: it is needed" };
    },
  },
  {
    trial: { holdMs: HOLD_MS, limitMs: LIMIT_MS },
    about: () => `call ends at a limit of ${LIMIT_MS / SECOND_MS} s in its settings`,
    read: ({ call }) => {
      if (!call) return { fields: {}, result: undefined };
      const isKept = !call.isHeld && Math.abs(call.ms - LIMIT_MS) < NEAR_MS;
      return { fields: {}, result: isKept ? `yes, after ${sayMs(call.ms)}` : "no" };
    },
  },
  {
    trial: { holdMs: HOLD_MS, limitMs: LIMIT_MS, progressMs: PROGRESS_MS },
    about: () => "progress extends that limit",
    read: ({ call }, { agent }) => {
      if (!call) return { fields: {}, result: undefined };
      // Where silence has a limit of its own, that one holds when the settings name none.
      return { fields: agent.idleEnv === undefined ? { progressExtends: call.isHeld } : {}, result: sayHeld(call) };
    },
  },
  {
    trial: { holdMs: IDLE_HOLD_MS, idleMs: SECOND_MS },
    about: ({ agent }) =>
      agent.idleEnv === undefined ? undefined : `call ends at its limit for silence (${agent.idleEnv})`,
    read: ({ call }) => ({
      fields: {},
      result: call && (call.isHeld ? "no" : `yes, after ${sayMs(call.ms)}`),
    }),
  },
  {
    trial: { holdMs: IDLE_HOLD_MS, idleMs: SECOND_MS, progressMs: IDLE_PROGRESS_MS },
    about: ({ agent }) => (agent.idleEnv === undefined ? undefined : "progress extends the limit for silence"),
    read: ({ call }) => ({
      fields: call ? { progressExtends: call.isHeld } : {},
      result: call && sayHeld(call),
    }),
  },
];

/** Holds one call, without progress and with no limit set, for the live window or for as long as there is time. */
async function holdLong(options: ProbeOptions, budget: Budget, measured: MeasuredLimits): Promise<Measurement> {
  const wantedMs = options.around.liveWindowMs + MARGIN_MS;
  const holdMs = Math.min(wantedMs, budget.longest());
  const what = `call without progress, with no limit set (live window ${formatDuration(options.around.liveWindowMs)})`;
  if (holdMs < LEAST_HOLD_MS) return { what, result: undefined, why: "no time left; say --max 10m" };
  options.onStep(`${what}: held for ${formatDuration(holdMs)}`);
  const { call, failure } = await runTrial({ holdMs }, options);
  if (!call) return { what, result: undefined, why: failure ?? "the call did not come back" };
  if (!call.isHeld) {
    measured.limitMs = Math.round(call.ms);
    return { what, result: `ended by itself after ${sayMs(call.ms)}` };
  }
  measured.heldMs = Math.round(holdMs);
  const isShort = holdMs < wantedMs ? "; longer was not tried, say --max 10m" : "";
  return { what, result: `held for ${formatDuration(holdMs)} and answered${isShort}` };
}

/** The time that is left, and how long it takes to start the program, by what was seen. */
class Budget {
  readonly #endsAt: number;
  #startMs = 0;

  constructor(maxMs: number) {
    this.#endsAt = performance.now() + maxMs;
  }

  has(holdMs: number): boolean {
    return performance.now() + holdMs + this.#startMs < this.#endsAt;
  }

  /** How long the last call can be held. */
  longest(): number {
    const leftMs = this.#endsAt - performance.now() - 2 * this.#startMs;
    return Math.floor(leftMs / SECOND_MS) * SECOND_MS;
  }

  async spend(trial: () => Promise<ProbeObservation>): Promise<ProbeObservation> {
    const startedAt = performance.now();
    const seen = await trial();
    const tookMs = performance.now() - startedAt - (seen.call?.ms ?? 0);
    this.#startMs = Math.min(START_MS, Math.max(this.#startMs, tookMs));
    return seen;
  }
}

function hasAlwaysLoad({ client, around }: ProbeOptions): boolean {
  const wishes = client.targets("user", around).flatMap((target) => target.wishes);
  return wishes.some((wish) => wish.is === "server" && wish.fields["alwaysLoad"] !== undefined);
}

function sayUnclear({ call }: ProbeObservation): string {
  return call ? `the call came back with: ${call.result.slice(0, 200)}` : "the call did not come back";
}

function sayHeld({ isHeld, ms }: NonNullable<ProbeObservation["call"]>): string {
  return isHeld ? `yes, held for ${sayMs(ms)}` : `no, ended after ${sayMs(ms)}`;
}

function sayMs(ms: number): string {
  return `${(ms / SECOND_MS).toFixed(1)} s`;
}
