import { z } from "zod";
import { RunId } from "../id.ts";

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

/** The lower of two strengths: who passes a message on adds nothing to what is known of its sender. */
export function weakerStrength(one: Strength, other: Strength): Strength {
  return Strength.options.indexOf(one) < Strength.options.indexOf(other) ? one : other;
}

/** Somebody who answers in another person's name; that this person said so rests on their word alone. */
export function inNameOf(by: Actor, person: string): Actor {
  return { ...by, onBehalfOf: person, strength: weakerStrength(by.strength, "bearer") };
}

/** The agent behind what came with a person's credential; without a run it is that person. */
export function asAgentOf(by: Actor, runId: Actor["runId"]): Actor {
  if (runId === undefined || by.scope === "agent") return by;
  return { scope: "agent", id: by.id, channel: by.channel, strength: "none", runId };
}

/** How the channel of an answer begins that was given in a form at an MCP client; the client's own name follows. */
const ELICITATION = "mcp:";
const LONGEST_CLIENT = 40;

/** The channel of answers from the form of an MCP client, by the name that the client gives itself. */
export function elicitationChannel(client: string | undefined): string {
  const name = (client ?? "").toLowerCase().replaceAll(/[^a-z0-9._-]+/g, "-");
  return `${ELICITATION}${name.slice(0, LONGEST_CLIENT) || "client"}`;
}

/** Says whether somebody answered in the form of an MCP client. */
export function isElicited({ channel }: Pick<Actor, "channel">): boolean {
  return channel.startsWith(ELICITATION);
}

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
  if (isElicited({ channel })) return `MCP client ${channel.slice(ELICITATION.length)}`;
  return Object.hasOwn(CHANNEL_NAMES, channel) ? (CHANNEL_NAMES[channel] ?? channel) : channel;
}
