import { parseDuration } from "../../text/duration.ts";
import type { ToolStep, WorkflowDefinition } from "./definition.ts";
import { EvaluationProblem, type Scope } from "./evaluate.ts";
import { fillTemplate } from "./template.ts";

const RETRY_DEFAULTS = { delay: "10s", backoff: "exponential", max_delay: "10m" } as const;
const MOST_ITEMS = 1_000;

/** The wait before the next try after so many failures; undefined if the step is not tried again. */
export function findRetryMs({ retry }: Pick<ToolStep, "retry">, failures: number): number | undefined {
  const { times, delay, backoff, max_delay } = {
    ...RETRY_DEFAULTS,
    ...(typeof retry === "object" ? retry : { times: retry ?? 0 }),
  };
  if (failures > times) return undefined;
  const factor = backoff === "exponential" ? 2 ** (failures - 1) : 1;
  return Math.min(parseDuration(delay) * factor, parseDuration(max_delay));
}

/** The time that one try of a tool may take; undefined if the tool decides. */
export function findTimeoutMs({ timeout }: Pick<ToolStep, "timeout">): number | undefined {
  return timeout === undefined ? undefined : parseDuration(timeout);
}

/** The items that a step is done for. */
export interface StepItems {
  items: readonly unknown[];
  /** The name by which the step reads its item; `index` is the number of the item, from 0. */
  as: string;
  /** How many items are worked on at the same time. */
  atOnce: number;
}

/** The items of a step with `for_each`; undefined if it has none. */
export function findItems({ for_each }: Pick<ToolStep, "for_each">, scope: Scope): StepItems | undefined {
  if (for_each === undefined) return undefined;
  const isPlain = typeof for_each === "string" || Array.isArray(for_each);
  const { in: list, as = "item", at_once = 1 } = isPlain ? { in: for_each } : for_each;
  const items = fillTemplate(list, scope);
  if (!Array.isArray(items)) throw new EvaluationProblem("for_each needs a list");
  if (items.length > MOST_ITEMS) throw new EvaluationProblem(`for_each takes at most ${MOST_ITEMS} items`);
  return { items, as, atOnce: at_once };
}

/** The key that only one live run may have, and what a second run does; undefined if there is none. */
export function findConcurrency(
  { concurrency }: Pick<WorkflowDefinition, "concurrency">,
  scope: Scope,
): { key: string; whenBusy: "wait" | "skip" | "cancel" } | undefined {
  if (concurrency === undefined) return undefined;
  const { key, when_busy = "wait" } = typeof concurrency === "string" ? { key: concurrency } : concurrency;
  const filled = fillTemplate(key, scope);
  // A key that names nothing keeps no runs apart, so none is used.
  if (filled === undefined || filled === null || filled === "") return undefined;
  return { key: typeof filled === "string" ? filled : JSON.stringify(filled), whenBusy: when_busy };
}
