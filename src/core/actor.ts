import { z } from "zod";
import { RunId } from "./id.ts";

/**
 * How sure we are of who it is, weakest first: `bearer` for whoever holds a link or sits at an MCP client, `local` for
 * this machine's user, `person` for a proven identity.
 */
export const Strength = z.enum(["none", "bearer", "local", "person"]);
export type Strength = z.infer<typeof Strength>;

/** Who does something, and through what. */
export const Actor = z.object({
  scope: z.enum(["agent", "human", "admin", "system"]),
  id: z.string().min(1).max(200),
  channel: z.string().min(1).max(64),
  strength: Strength,
  onBehalfOf: z.string().max(200).optional(),
  /** The run an agent's token belongs to. */
  runId: RunId.optional(),
});
export type Actor = z.infer<typeof Actor>;

/** askd itself, when a deadline or a crash makes it act. */
export const SYSTEM: Actor = { scope: "system", id: "askd", channel: "policy", strength: "none" };

/** The name to show for who did something. */
export function sayActor(actor: Actor): string {
  return actor.onBehalfOf ?? actor.id;
}

const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  slack: "Slack",
  github: "GitHub",
  email: "e-mail",
};

/** What people call the way by which somebody spoke. */
export function sayChannel(channel: string): string {
  return Object.hasOwn(CHANNEL_NAMES, channel) ? (CHANNEL_NAMES[channel] ?? channel) : channel;
}
