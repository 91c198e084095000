import { z } from "zod";
import { type Item, recommendedOption } from "./content.ts";
import { SECOND_MS } from "../instant.ts";
import { plainName } from "../people/person.ts";
import type { OnTimeout } from "./question.ts";
import { TimeoutPolicy } from "./timeout-policy.ts";
import { Refusal } from "../refusal.ts";
import type { Rules } from "../rules.ts";
import { parseDuration } from "../text/duration.ts";

const MAX_STEPS = 10;
const EXAMPLE = '{"type": "escalate", "steps": [{"after": "30m", "to": ["lena"]}], "then": "fail"}';
const SILENCE_ANSWERS: readonly (TimeoutPolicy | undefined)[] = ["proceed", "default"];

/** A duration such as `3m`, or a number of seconds; in milliseconds. */
export const Duration = z
  .union([z.string(), z.number().nonnegative()])
  .transform((value) => (typeof value === "number" ? value * SECOND_MS : parseDuration(value)));

const Step = z
  .strictObject(
    {
      after: Duration.pipe(z.int().positive("write how long these people have, like 30m")),
      to: z.array(z.string()).default([]),
      channels: z.array(z.string()).default([]),
    },
    { error: sayShape },
  )
  .refine(({ to, channels }) => to.length + channels.length > 0, 'name people in "to", or channels in "channels"');

const Params = z.strictObject(
  {
    addLabel: z.string().optional(),
    comment: z.string().optional(),
    notifyChannel: z.string().optional(),
    assignTo: z.string().optional(),
    markAs: z.string().optional(),
    useAnswer: z.string().optional(),
    then: TimeoutPolicy.exclude(["escalate"]).optional(),
    steps: z.array(Step).min(1).max(MAX_STEPS).optional(),
  },
  { error: sayShape },
);

const Policy = TimeoutPolicy.optional();
const Action = z.preprocess(
  (given) => (typeof given === "string" ? { do: given } : given),
  Params.extend({ type: Policy, action: Policy, do: Policy }).refine(
    ({ type, action, do: policy }) => type ?? action ?? policy,
    `name the policy in "type", like ${EXAMPLE}`,
  ),
);

/** The fields of an ask that say what happens at its deadline. Unknown fields are refused, never left out. */
export const TimeoutFields = z.object({
  onTimeout: Action.optional(),
  timeoutAction: Action.optional(),
  timeoutParams: Params.optional(),
  defaultAnswer: z.string().optional(),
});

type TimeoutAsk = z.infer<typeof TimeoutFields> & { kind: "question" | "approval" };

/** The defaults for the deadline of an ask: those of its door and of the rules. */
interface TimeoutDefaults {
  /** The policy of the door. */
  onTimeout: TimeoutPolicy | undefined;
  /** How long the question can be answered. */
  timeoutMs: number | undefined;
  rules: Rules;
}

/** Reads the policy of an ask, or refuses one that could not be carried out. */
export function readOnTimeout(fields: TimeoutAsk, items: readonly Item[], defaults: TimeoutDefaults): OnTimeout {
  const action = fields.onTimeout ?? fields.timeoutAction;
  const params = { ...fields.timeoutParams, ...action };
  const declared = action?.type ?? action?.action ?? action?.do ?? defaults.onTimeout;
  const what = declared ?? policyFor(fields, items, defaults.rules);
  const chain = what === "escalate" ? readChain(params, defaults) : requireNoChain(params, what);
  requireAnEnd(params, what);
  const silent = [what, chain.then].find((policy) => SILENCE_ANSWERS.includes(policy));
  if (fields.kind === "approval" && silent) {
    throw new Refusal(
      "bad_input",
      `An approval cannot be given by silence; use on_timeout fail, skip, escalate, wait or defer instead of ${silent}`,
    );
  }
  const { addLabel, comment, notifyChannel, markAs } = params;
  const assignTo = params.assignTo === undefined ? undefined : plainName(params.assignTo);
  const hasAnswer = what === "default" || chain.then === "default";
  const answer = hasAnswer ? readDefault(fields.defaultAnswer ?? params.useAnswer, items) : undefined;
  return { do: what, answer, ...chain, addLabel, comment, notifyChannel, assignTo, markAs };
}

type Chain = Pick<OnTimeout, "steps" | "then">;

/**
 * The steps of an escalation: given, one step for `assignTo` and `notifyChannel` that lasts as long as the question
 * did, or the configured ones.
 */
function readChain(
  { steps, then, assignTo, notifyChannel }: z.infer<typeof Params>,
  { timeoutMs, rules }: TimeoutDefaults,
): Chain {
  if (steps) requireOneWay(assignTo, notifyChannel);
  if (steps)
    return {
      steps: steps.map(({ after, to, channels }) => ({ afterMs: after, to: to.map(plainName), channels })),
      then,
    };
  if (assignTo !== undefined || notifyChannel !== undefined) {
    const to = assignTo === undefined ? [] : [plainName(assignTo)];
    const channels = notifyChannel === undefined ? [] : [notifyChannel];
    return { steps: [{ afterMs: timeoutMs || rules.timeoutMs, to, channels }], then };
  }
  if (rules.escalation) return { ...rules.escalation, then: then ?? rules.escalation.then };
  throw new Refusal("bad_input", 'on_timeout "escalate" names nobody to escalate to', {
    hint: `Write ${EXAMPLE}, or set [escalation] in the settings`,
  });
}

function requireOneWay(assignTo: string | undefined, notifyChannel: string | undefined) {
  const idle = namedBeside(assignTo, notifyChannel);
  if (idle === undefined) return;
  throw new Refusal("bad_input", `"${idle}" beside "steps" would never be used`, {
    hint: 'Name people in "to" and channels in "channels" of a step',
  });
}

function namedBeside(assignTo: string | undefined, notifyChannel: string | undefined) {
  if (assignTo !== undefined) return "assign_to";
  return notifyChannel === undefined ? undefined : "notify_channel";
}

/** Somebody who is told of the end needs one. */
function requireAnEnd({ assignTo, notifyChannel }: z.infer<typeof Params>, what: TimeoutPolicy) {
  const idle = namedBeside(assignTo, notifyChannel);
  if (idle === undefined || (what !== "wait" && what !== "defer")) return;
  throw new Refusal(
    "bad_input",
    `"${idle}" would never be used: with "${what}" the question does not end at the deadline`,
    { hint: `Write ${EXAMPLE}` },
  );
}

/** Steps beside another policy would never be taken. */
function requireNoChain({ steps, then }: z.infer<typeof Params>, what: TimeoutPolicy): Chain {
  const idle = steps ? "steps" : then && "then";
  if (idle === undefined) return {};
  throw new Refusal("bad_input", `"${idle}" belongs to on_timeout "escalate"; with "${what}" it would never be used`, {
    hint: `Write ${EXAMPLE}`,
  });
}

/** The configured policy for questions without one, if it is possible for this question; else `fail`. */
function policyFor({ kind, defaultAnswer }: TimeoutAsk, items: readonly Item[], rules: Rules): TimeoutPolicy {
  const { onTimeout, escalation } = rules;
  if (kind === "approval" && SILENCE_ANSWERS.includes(onTimeout)) return "fail";
  if (onTimeout === "escalate" && !escalation) return "fail"; // the settings are reported as wrong
  const hasDefault = defaultAnswer !== undefined || items.every((item) => recommendedOption(item));
  return onTimeout === "default" && !hasDefault ? "fail" : onTimeout;
}

/** The answer of the `default` policy, as text that matches the options: given, or the recommended option. */
function readDefault(given: string | undefined, items: readonly Item[]) {
  if (given !== undefined) return given;
  const recommended = items.map((item) =>
    item.options.filter((option) => option.recommended).map((option) => option.key),
  );
  if (recommended.some((keys) => keys.length === 0)) {
    throw new Refusal("bad_input", 'on_timeout "default" needs a default_answer or a recommended option in every item');
  }
  if (items.length === 1) return recommended.flat().join(",");
  return recommended.map((keys, index) => `${index + 1}${keys.join(",")}`).join(" ");
}

function sayShape(issue: { code?: string; keys?: unknown }) {
  const unknown = Array.isArray(issue.keys) ? `there is no field "${String(issue.keys[0])}"; ` : "";
  return `${unknown}write a policy (${TimeoutPolicy.options.join(", ")}), or like ${EXAMPLE}`;
}
