import { z } from "zod";
import { RunId, shortId } from "../id.ts";
import { requireVisibleLine } from "../text/foreign-text.ts";

/**
 * How well an identity is proven, weakest first: `bearer` for the holder of a link or the user of an MCP client,
 * `local` for this machine's user, `person` for a proven identity.
 */
export const Strength = z.enum(["none", "bearer", "local", "person"]);
export type Strength = z.infer<typeof Strength>;

/** A person, agent or part of askd that acts, and its channel. */
export const Actor = z.object({
  scope: z.enum(["agent", "human", "admin", "system"]),
  id: z.string().min(1).max(200),
  channel: z.string().min(1).max(64),
  strength: Strength,
  onBehalfOf: z.string().max(200).optional(),
  /** The run of an agent's token. */
  runId: RunId.optional(),
});
export type Actor = z.infer<typeof Actor>;

/** askd itself, acting on a deadline or a crash. */
export const SYSTEM: Actor = { scope: "system", id: "askd", channel: "policy", strength: "none" };

/** The lower of two strengths: forwarding a message proves nothing about its sender. */
export function weakerStrength(one: Strength, other: Strength): Strength {
  return Strength.options.indexOf(one) < Strength.options.indexOf(other) ? one : other;
}

/**
 * An actor who answers on behalf of another person, with the strength of their word alone. Every door that takes a name
 * passes here: a name is one visible line, so that nothing else stands beside it in messages, lists and the trail.
 */
export function onBehalfOf(by: Actor, person: string): Actor {
  requireVisibleLine(person, "the name of who answered");
  return { ...by, onBehalfOf: person, strength: weakerStrength(by.strength, "bearer") };
}

/** The agent that used a person's credential; without a run, the person. */
export function agentActor(by: Actor, runId: Actor["runId"]): Actor {
  if (runId === undefined || by.scope === "agent") return by;
  return { scope: "agent", id: by.id, channel: by.channel, strength: "none", runId };
}

/** The prefix of the channel of answers from an MCP client's form; the client's name follows. */
const ELICITATION = "mcp:";
const LONGEST_CLIENT = 40;

/** The channel of answers from an MCP client's form, by the client's own name. */
export function elicitationChannel(client: string | undefined): string {
  const name = (client ?? "").toLowerCase().replaceAll(/[^a-z0-9._-]+/g, "-");
  return `${ELICITATION}${name.slice(0, LONGEST_CLIENT) || "client"}`;
}

/** Says whether an answer came from an MCP client's form. */
export function isElicited({ channel }: Pick<Actor, "channel">): boolean {
  return channel.startsWith(ELICITATION);
}

/** The display name of an actor. */
export function actorName(actor: Actor): string {
  return actor.onBehalfOf ?? actor.id;
}

/**
 * The name of an actor in the audit trail. An agent in its run has the name of this machine's user, and what it tries
 * must not look like that person's act: it is named by its run, in the words of the surface.
 */
export function trailActorName(
  by: Actor,
  runNumbers: ReadonlyMap<RunId, number>,
  nameAgent: (run: string) => string = (run) => `agent of run ${run}`,
): string {
  if (by.scope !== "agent" || by.runId === undefined) return actorName(by);
  const number = runNumbers.get(by.runId);
  return nameAgent(number === undefined ? shortId(by.runId) : `#${number}`);
}

const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  slack: "Slack",
  github: "GitHub",
  email: "e-mail",
  telegram: "Telegram",
};

/** The display name of a channel. */
export function channelName(channel: string): string {
  if (isElicited({ channel })) return `MCP client ${channel.slice(ELICITATION.length)}`;
  return Object.hasOwn(CHANNEL_NAMES, channel) ? (CHANNEL_NAMES[channel] ?? channel) : channel;
}
