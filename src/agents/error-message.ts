import type { Resume } from "./agent.ts";

/** The text of a message; an agent that takes no answers by call is never asked to. */
export function messageOf(how: Resume): string {
  if (how.by === "message") return how.text;
  throw new Error(`This agent cannot be resumed at its call ${how.callId}; send a message`);
}
