import { type ChannelName, HttpChannel } from "./reach-task.ts";
import { MESSAGE_POINTS, type StopPoint } from "./stop-point.ts";

/** One death of the process that brings messages, at one point of the life of a question. */
export interface ReachCase {
  name: string;
  channel: ChannelName;
  /** What is done when the process dies: the message is sent, changed or closed, a reminder is sent, a reply is read. */
  step: "send" | "edit" | "close" | "remind" | "reply" | "late reply" | "unclear reply";
  point: StopPoint;
  /** What happens to the question before the next process starts. */
  meanwhile?: "answered" | "extended";
}

const SHORT: ReadonlySet<string> = new Set([
  "telegram: send taken",
  "telegram: reply answered",
  "telegram: remind taken",
  "ntfy: send taken",
  "ntfy: send taken, answered meanwhile",
  "ntfy: reply saved",
  "webhook: edit taken",
  "slack: send claimed",
  "slack: reply answering",
  "github: send taken",
  "github: reply answered",
  "email: send written",
  "email: reply answered",
  "email: unclear reply written",
]);

/** Every point at which the process can die, for one channel. */
export function listReachCases(channel: ChannelName): ReachCase[] {
  const one: MakeCase = (step, point, meanwhile) => ({
    name: `${channel}: ${step} ${point}${meanwhile === undefined ? "" : `, ${meanwhile} meanwhile`}`,
    channel,
    step,
    point,
    ...(meanwhile && { meanwhile }),
  });
  if (channel === "email") return listMailCases(one);
  return [
    ...MESSAGE_POINTS.flatMap((point) => [one("send", point), one("edit", point), one("close", point)]),
    one("send", "taken", "answered"),
    one("send", "taken", "extended"),
    one("send", "claimed", "answered"),
    one("edit", "taken", "answered"),
    ...(channel === "telegram" ? listReminders(one) : []),
    ...(channel === "webhook" ? [] : listReplies(channel, one)),
  ];
}

type MakeCase = (step: ReachCase["step"], point: StopPoint, meanwhile?: ReachCase["meanwhile"]) => ReachCase;

/** A mail cannot be changed, and is read from a mailbox. */
function listMailCases(one: MakeCase): ReachCase[] {
  const sending = ["claiming", "claimed", "addressed", "written", "taken", "committed"] as const;
  const corrected = [
    "fetched",
    "parsed",
    "remembered",
    "addressed",
    "written",
    "responded",
    "saving",
    "saved",
  ] as const;
  return [
    ...sending.flatMap((point) => [one("send", point), one("close", point)]),
    one("send", "claimed", "answered"),
    one("send", "written", "answered"),
    one("send", "taken", "extended"),
    ...(["fetched", "parsed", "answering", "answered", "remembered", "saving", "saved"] as const).map((point) =>
      one("reply", point),
    ),
    ...corrected.flatMap((point) => [one("late reply", point), one("unclear reply", point)]),
  ];
}

/** A reminder is a message of its own: it may come twice, and the question is there once. */
function listReminders(one: MakeCase): ReachCase[] {
  return [
    ...MESSAGE_POINTS.map((point) => one("remind", point)),
    one("remind", "claimed", "answered"),
    one("remind", "taken", "answered"),
  ];
}

/**
 * Only Telegram says something to somebody whose answer counts. A connection of Slack has no place that is saved, and a
 * reply on GitHub need not move its: it is a second. On GitHub a closed question has no boxes to tick.
 */
function listReplies(channel: ChannelName, one: MakeCase) {
  return [
    one("reply", "answering"),
    one("reply", "answered"),
    one("reply", "remembered"),
    ...(channel === "telegram" ? [one("reply", "responded")] : []),
    ...(channel === "telegram" || channel === "ntfy" ? [one("reply", "saved")] : []),
    ...(channel === "github" ? [] : [one("late reply", "remembered"), one("late reply", "responded")]),
  ];
}

/** The points that a service can see: a message arrives, and a message was taken. */
export function listBuiltCases(channel: ChannelName): ReachCase[] {
  if (!HttpChannel.safeParse(channel).success) return [];
  return listReachCases(channel).filter(({ step, point, meanwhile }) => {
    const isSeen = point === "claimed" || point === "taken";
    return isSeen && step !== "remind" && !step.endsWith("reply") && meanwhile === undefined;
  });
}

/** One of each kind, for every day. */
export function listShortReach(channel: ChannelName): ReachCase[] {
  return listReachCases(channel).filter(({ name }) => SHORT.has(name));
}
