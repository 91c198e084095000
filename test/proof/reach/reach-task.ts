import { z } from "zod";
import type { ReachChannel } from "../../../src/core/rules.ts";
import { Place } from "../place.ts";

export const ChannelName = z.enum(["telegram", "ntfy", "webhook"]);
export type ChannelName = z.infer<typeof ChannelName>;

/** Everything that a process which brings messages to people is told. */
export const ReachTask = z.object({
  place: Place,
  channel: ChannelName,
  /** The address of the service on loopback, and the secret that it shares with askd. */
  url: z.string(),
  secret: z.string(),
  /** How far the clock is ahead: a process that starts after another has died starts that much later. */
  aheadMs: z.int().nonnegative(),
});
export type ReachTask = z.infer<typeof ReachTask>;

export const REACH: Readonly<Record<ChannelName, ReachChannel>> = {
  telegram: { name: "telegram", person: undefined, isPersonal: true },
  ntfy: { name: "ntfy", person: "mika", isPersonal: false },
  webhook: { name: "webhook", person: undefined, isPersonal: false },
};
