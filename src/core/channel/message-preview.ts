import { z } from "zod";

/** The message that a channel would get of a question, for one recipient. */
export const MessagePreview = z.object({
  channel: z.string(),
  person: z.string().optional(),
  /** Exactly what would leave, apart from credentials and addresses. */
  message: z.record(z.string(), z.unknown()).optional(),
  /** Why there is none: the settings of the channel are incomplete. */
  problem: z.string().optional(),
});
export type MessagePreview = z.infer<typeof MessagePreview>;

/** Credentials of buttons, and where a message goes: topics are secrets, and addresses are for admins. */
const HIDDEN = /^(?:authorization|topic|chat_id|to|channel|url)$/i;

/** A message without credentials and addresses. */
export function withoutAddresses(message: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = JSON.stringify(message, (key, value: unknown) => (HIDDEN.test(key) ? "[hidden]" : value));
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
