import { z } from "zod";
import type { ReachChannel, Rules } from "../../../src/core/rules.ts";
import { ROOMY } from "../../scene.ts";
import { Place } from "../place.ts";

/** The channels that the built program is set up for too. */
export const HttpChannel = z.enum(["telegram", "ntfy", "webhook"]);
export type HttpChannel = z.infer<typeof HttpChannel>;
export const ChannelName = z.enum([...HttpChannel.options, "slack", "github", "email"]);
export type ChannelName = z.infer<typeof ChannelName>;

/** The mailbox that replies come to, on a server on loopback. */
export const Mailbox = z.object({
  user: z.string(),
  ports: z.object({ submission: z.int(), imap: z.int() }),
  ca: z.string(),
});
export type Mailbox = z.infer<typeof Mailbox>;

/** Everything that a process which brings messages to people is told. */
export const ReachTask = z.object({
  place: Place,
  channel: ChannelName,
  /** The address of the service on loopback, and the secret that it shares with askd. */
  url: z.string(),
  secret: z.string(),
  /** In place of that address, for mail. */
  mailbox: Mailbox.optional(),
  /** How far the clock is ahead: a process that starts after another has died starts that much later. */
  aheadMs: z.int().nonnegative(),
  /** Where it dies, if that is known before it starts. */
  armed: z.string().optional(),
});
export type ReachTask = z.infer<typeof ReachTask>;

/** Everything is told at once: these proofs bring one person more than anybody should get. */
export const UNLIMITED: Rules["attention"] = { perMinute: undefined, perHour: undefined, digestMs: undefined };

export const REACH: Readonly<Record<ChannelName, ReachChannel>> = {
  telegram: { name: "telegram", person: undefined, isPersonal: true },
  ntfy: { name: "ntfy", person: "mika", isPersonal: false },
  webhook: { name: "webhook", person: undefined, isPersonal: false },
  slack: { name: "slack", person: undefined, isPersonal: false, isShared: true },
  github: { name: "github", person: undefined, isPersonal: false, hasIssues: true },
  email: { name: "email", person: undefined, isPersonal: true },
};

/** The rules of the processes that ask and bring messages in one channel. */
export function reachRules(channel: ChannelName): Rules {
  const { isPersonal } = REACH[channel];
  return { ...ROOMY, reach: [REACH[channel]], personChannel: isPersonal, attention: UNLIMITED };
}
