import { z } from "zod";
import type { Reply } from "../../core/channel/channel.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { FormState, readForm } from "./form.ts";
import { unescapeText } from "./mrkdwn.ts";

const LONGEST_TEXT = 40_000;
const Id = z.string().min(1).max(64);
/** A time stamp names a message within its channel. */
const Stamp = z.string().regex(/^\d{1,16}\.\d{1,16}$/);

const Action = z.looseObject({
  block_id: z.string().max(255),
  action_id: z.string().max(255),
  action_ts: z.string().max(64),
  value: z.string().max(2_000).nullish(),
  selected_option: z.looseObject({ value: z.string().max(150) }).nullish(),
});
const Press = z.looseObject({
  type: z.literal("block_actions"),
  user: z.looseObject({ id: Id }),
  channel: z.looseObject({ id: Id }),
  container: z.looseObject({ message_ts: Stamp }),
  trigger_id: z.string().max(255),
  actions: z.array(Action).max(25),
});
const Submission = z.looseObject({
  type: z.literal("view_submission"),
  user: z.looseObject({ id: Id }),
  view: z.looseObject({
    id: z.string().max(64),
    private_metadata: z.string().max(3_000),
    state: FormState,
  }),
});
const Interaction = z.discriminatedUnion("type", [Press, Submission]);

const Command = z.looseObject({
  command: z.string().max(64),
  text: z.string().max(LONGEST_TEXT),
  user_id: Id,
  channel_id: Id,
  trigger_id: z.string().max(255),
});

/** A person's own words, besides those of the usual kind: also sent to the channel, or with a file. */
const SAID_ALSO = z.enum(["thread_broadcast", "file_share"]);

const Said = z.looseObject({
  type: z.literal("event_callback"),
  event: z.looseObject({
    type: z.literal("message"),
    channel: Id,
    user: Id,
    text: z.string().max(LONGEST_TEXT),
    ts: Stamp,
    thread_ts: Stamp,
    bot_id: z.undefined().optional(),
    subtype: SAID_ALSO.optional(),
  }),
});

/** Where a response goes: to one person in a channel, in a thread if there is one. */
const ResponsePlace = z.object({ channel: Id, user: Id, thread: Stamp.optional() });
export type ResponsePlace = z.infer<typeof ResponsePlace>;

export function parsePlace(respondTo: string): ResponsePlace {
  return ResponsePlace.parse(JSON.parse(respondTo));
}

/** A reply that asks for a form carries the trigger that opens it, for three seconds. */
const FORM = "form:";

/** Reads one delivery of Slack: what a person pressed, sent, typed as a command, or wrote in a thread. */
export function readDelivery(type: string, body: unknown): Reply[] {
  switch (type) {
    case "interactive":
      return readInteraction(body);
    case "slash_commands":
      return readCommand(body);
    case "events_api":
      return readSaid(body);
    default:
      return [];
  }
}

function readInteraction(body: unknown): Reply[] {
  const parsed = Interaction.safeParse(body);
  if (!parsed.success) return [];
  if (parsed.data.type === "view_submission") return readSubmission(parsed.data);
  const { user, channel, container, trigger_id: trigger, actions } = parsed.data;
  const outside = `${channel.id}:${container.message_ts}`;
  return actions.flatMap((action): Reply[] => {
    const text = action.selected_option?.value ?? action.value ?? "";
    // A link is a button too; nothing is to be done when it is pressed.
    if (text === "") return [];
    const key = `press:${outside}:${user.id}:${action.action_ts}`;
    const respondTo = placeOf({ channel: channel.id, user: user.id });
    const reply = { key, from: user.id, token: action.block_id, text, respondTo };
    const kind = formOf(action.action_id) ?? formOf(text);
    return [kind === undefined ? reply : { ...reply, outside, text: trigger, form: kind }];
  });
}

function formOf(name: string): Reply["form"] {
  if (name === `${FORM}answer`) return "answer";
  return name === `${FORM}clarify` ? "clarify" : undefined;
}

function readSubmission({ user, view }: z.infer<typeof Submission>): Reply[] {
  const { outside, items, text } = readForm(view.private_metadata, view.state);
  const [channel = ""] = outside.split(":");
  return [
    { key: `form:${view.id}`, from: user.id, outside, text, items, respondTo: placeOf({ channel, user: user.id }) },
  ];
}

function readCommand(body: unknown): Reply[] {
  const parsed = Command.safeParse(body);
  const typed = parsed.success ? parseCommand(parsed.data.text) : undefined;
  if (!parsed.success || !typed) return [];
  const { user_id: user, channel_id: channel, trigger_id: trigger } = parsed.data;
  const respondTo = placeOf({ channel, user });
  return [{ key: `command:${trigger}`, from: user, ...typed, respondTo, expectsResponse: true }];
}

/** `q-456 A because …`: the question, and the answer. */
function parseCommand(text: string) {
  const [, question, answer] = /^\s*(\S{1,64})\s+(\S[\s\S]*)$/.exec(text) ?? [];
  return question === undefined || answer === undefined ? undefined : { question, text: unescapeText(answer) };
}

/** The response to a command that cannot be read: how it is written. */
export function explainUnread({ type, body }: { type: string; body: unknown }): Record<string, unknown> | undefined {
  if (type !== "slash_commands" || readCommand(body).length > 0) return undefined;
  return { response_type: "ephemeral", text: tellIn("en", "chat.usage") };
}

/** Only a person's own words in a thread are a reply: not those of programs, and not what was joined, edited or deleted. */
function readSaid(body: unknown): Reply[] {
  const parsed = Said.safeParse(body);
  if (!parsed.success) return [];
  const { channel, user, text, ts, thread_ts: thread } = parsed.data.event;
  const reply = { key: `message:${channel}:${ts}`, from: user, outside: `${channel}:${thread}` };
  return [{ ...reply, text: unescapeText(text), respondTo: placeOf({ channel, user, thread }) }];
}

function placeOf(place: ResponsePlace): string {
  return JSON.stringify(place);
}
