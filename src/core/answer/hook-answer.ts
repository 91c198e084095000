import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { type Actor, onBehalfOf } from "../people/actor.ts";
import { Refusal } from "../refusal.ts";

/** How far the time of a message may be from ours, either way. */
const WINDOW_MS = 5 * 60_000;
const SECRET_PREFIX = "whsec_";

/** The channel of answers that programs post. */
export const HOOK_CHANNEL = "hook";

/** A program outside that posts signed messages: answers, or what starts workflows. */
export interface SignedHook {
  name: string;
  /** The secret that its messages are signed with; without it the hook is off. */
  readSecret(): string | undefined;
  /** The name of who answered, in its messages, counts. */
  isOnBehalf: boolean;
  /** Its messages start workflows, and answer nothing. */
  startsWorkflows?: boolean;
}

/** A message of such a program, as it came. */
export interface HookMessage {
  id: string | undefined;
  timestamp: string | undefined;
  signature: string | undefined;
  body: string;
}

/** The answer in a message. */
export const HookAnswer = z.object({
  question_id: z.string().min(1).max(64),
  answer: z.string().min(1),
  note: z.string().optional(),
  answered_by: z.string().min(1).max(200).optional(),
});
export type HookAnswer = z.infer<typeof HookAnswer>;

/**
 * Refuses a message that is not signed with the secret, as Standard Webhooks say: over id, time and body. A message that
 * is too old or from the future is refused too: what was heard on the way cannot be sent again later.
 */
export function requireSigned({ id, timestamp, signature, body }: HookMessage, secret: string, nowMs: number): string {
  const atS = /^\d{1,12}$/.test(timestamp ?? "") ? Number(timestamp) : Number.NaN;
  const isNamed = id !== undefined && /^[\x21-\x7e]{1,200}$/.test(id);
  if (!isNamed || !Number.isFinite(atS)) throw unsigned("it names no id or no time");
  const expected = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest();
  if (!(signature ?? "").split(" ").some((each) => isSame(each, expected))) throw unsigned("its signature is wrong");
  if (Math.abs(nowMs - atS * 1000) > WINDOW_MS) throw unsigned("its time is more than 5 minutes from ours");
  return id;
}

function unsigned(why: string) {
  return new Refusal("sign_in", `The message is not accepted: ${why}`, {
    hint: "Sign webhook-id.webhook-timestamp.body with the secret of the hook, as docs/webhooks.md says",
  });
}

function isSame(given: string, expected: Buffer) {
  if (!given.startsWith("v1,")) return false;
  const bytes = Buffer.from(given.slice(3), "base64");
  // Only the one spelling of these bytes counts.
  const isExact = bytes.toString("base64") === given.slice(3);
  return isExact && bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function keyOf(secret: string) {
  return secret.startsWith(SECRET_PREFIX) ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64") : secret;
}

/** The actor of an answer through a hook: the program, or the person that it speaks for. It proves no person. */
export function hookActor({ name, isOnBehalf }: SignedHook, { answered_by: person }: HookAnswer): Actor {
  const by: Actor = { scope: "human", id: `hook:${name}`, channel: HOOK_CHANNEL, strength: "bearer" };
  return person === undefined || !isOnBehalf ? by : onBehalfOf(by, person);
}
