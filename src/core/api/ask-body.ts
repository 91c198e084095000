import { z } from "zod";
import type { AskInput } from "../question/ask-input.ts";
import { RunId } from "../id.ts";
import { ItemInput } from "../question/item-input.ts";
import { AfterHold, Approvals, Outcome } from "../question/question.ts";
import { Risk } from "../question/risk.ts";
import { TimeoutPolicy } from "../question/timeout-policy.ts";
import { Issue } from "../run/issue.ts";
import { GiveBack, type AgentPresence } from "../run/run.ts";
import { Duration, Moment } from "./route.ts";

/** The description of a new run. */
export const RunBody = z.object({
  name: z.string().max(200).optional(),
  agent: z.string().max(64).optional(),
  host: z.string().max(255).optional(),
  session: z.string().max(800).optional(),
  external_id: z.string().max(200).optional(),
  dir: z.string().max(800).optional(),
  repo: z.string().max(800).optional(),
  branch: z.string().max(800).optional(),
  labels: z.array(z.string().max(200)).max(100).optional(),
  priority: z.int().min(0).max(4).optional(),
  size: z.string().max(40).optional(),
  issue: Issue.optional(),
  parent_id: RunId.optional(),
  give_back: GiveBack.optional(),
  callback_url: z.string().max(2000).optional(),
  callback_secret: z.string().max(500).optional(),
});
export type RunBody = z.infer<typeof RunBody>;

export const SeenBody = z.object({
  pid: z.int().positive(),
  started_at: z.string().max(100),
  attended: z.boolean().optional(),
});

/** The process of an agent for the wire, and back. */
export function seenBody({ pid, startedAt, isAttended }: AgentPresence): z.infer<typeof SeenBody> {
  return { pid, started_at: startedAt, attended: isAttended };
}

export function readSeen({ pid, started_at: startedAt, attended }: z.infer<typeof SeenBody>): AgentPresence {
  return { pid, startedAt, isAttended: attended };
}

/** The policy for the deadline as an object. */
const OnTimeoutBody = z
  .looseObject({
    type: TimeoutPolicy,
    steps: z
      .array(
        z
          .looseObject({
            after: Duration.describe("How long these people have before the next step"),
            to: z.array(z.string()).describe("People or groups who get the question"),
            channels: z.array(z.string()).describe("Channels that carry it"),
          })
          .partial(),
      )
      .describe("For escalate: at the deadline the question goes to the first step, and so on"),
    then: TimeoutPolicy.exclude(["escalate"]).describe(
      "For escalate: what happens after the last step; fail unless said",
    ),
  })
  .partial();

/**
 * An ask as it comes over the wire. The fields that are named here are the product's own; the other names that
 * clients use for the same are read too; `parseAsk` reports what is wrong with it.
 */
export const AskBody = z.looseObject({
  question: z.string().optional().describe("One question; for several use items"),
  items: z.array(ItemInput.loose()).optional(),
  context: z.string().nullish().describe("Markdown"),
  kind: z.enum(["question", "approval"]).optional(),
  risk: Risk.optional().describe("Can raise what askd measures, never lower it"),
  tool: z
    .looseObject({
      name: z.string(),
      input: z.unknown(),
      reason: z.string().nullish(),
      takes_change: z.boolean().nullish().describe("The asker can run another command than the one it asks for"),
      file: z.string().nullish().describe("The text of the file that an edit changes, for its line numbers"),
    })
    .optional()
    .describe("What an approval is about; askd words the question and computes the fingerprint"),
  confidence: z.number().nullish(),
  hold: Duration.optional().describe("How long the caller waits with its agent alive"),
  after_hold: AfterHold.optional(),
  timeout: Duration.optional().describe('24h unless said; "never" for none'),
  on_timeout: z
    .union([TimeoutPolicy, OnTimeoutBody])
    .optional()
    .describe("A policy, or an object with its type; fields that are not known are refused"),
  default_answer: z.string().optional(),
  declares: z
    .object({ timeout: z.boolean(), on_timeout: z.boolean() })
    .partial()
    .optional()
    .describe("Which of timeout and on_timeout the asker chose; a question that continues another keeps the rest"),
  to: z.array(z.string()).optional(),
  key: z.string().min(1).max(255).optional().describe("The same as the Idempotency-Key header"),
  approvals: Approvals.partial().loose().optional(),
  accepts: z.array(Outcome).optional(),
  run_id: RunId.optional().describe("The run that asks; without it a run is made for this ask"),
  run: RunBody.optional(),
  epoch: z.int().optional().describe("The start of the agent that asks, as ASKD_EPOCH told it"),
  called_at: Moment.optional().describe("When the agent made the call, if the ask had to wait its turn"),
  seen: SeenBody.optional().describe("The agent's process, where somebody else started it"),
  holder: z.string().max(200).optional().describe("The process that waits"),
  asked_as: z.string().min(1).max(200).optional().describe("Names who asks what, to find it again"),
  via: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/)
    .optional(),
  traceparent: z.string().nullish().describe("The same as the header of that name"),
  secrets: z.array(z.string().max(10_000)).max(500).optional().describe("Values that must not reach any channel"),
});
export type AskBody = z.infer<typeof AskBody>;

/** A parsed ask as a body that parses to the same again. */
export function askBody(input: AskInput): AskBody {
  const { answer, steps, ...onTimeout } = input.onTimeout;
  return {
    ...whatBody(input),
    kind: input.kind,
    risk: input.risk,
    confidence: input.confidence,
    hold: sayMs(input.holdMs ?? 0),
    after_hold: input.afterHold,
    timeout: input.timeoutMs === undefined ? "never" : sayMs(input.timeoutMs),
    on_timeout: {
      ...onTimeout,
      ...(steps && { steps: steps.map(({ afterMs, to, channels }) => ({ after: sayMs(afterMs), to, channels })) }),
    },
    declares: { timeout: input.declares.timeout, on_timeout: input.declares.onTimeout },
    default_answer: answer,
    notify: input.notify.map(({ channel, address, mention }) => ({ type: channel, address, mention })),
    to: input.to,
    ...(input.issue && { issue: input.issue }),
    key: input.key,
    approvals: input.approvals,
    accepts: input.accepts,
    via: input.via,
    traceparent: input.trace,
  };
}

/** The content of an ask: the server words the question about a tool itself. */
function whatBody({ items, context, tool }: AskInput): Pick<AskBody, "items" | "context" | "tool"> {
  if (tool) {
    const { tool: name, input, reason, takesChange, file } = tool;
    return { tool: { name, input, reason, takes_change: takesChange, file } };
  }
  return { items, context };
}

function sayMs(ms: number) {
  return `${ms}ms`;
}
