import { channelName } from "../../../core/people/actor.ts";
import type { ChannelState } from "../../../core/channel/delivery/delivery-status.ts";
import { ChannelView, viewChannel } from "../../../core/api/reach-route.ts";
import type { Instant } from "../../../core/instant.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { printResult } from "../../output.ts";
import { sayAgo } from "../../view/relative-time.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayUnpaired } from "./pairing-warning.ts";
import { padCells } from "../../terminal/terminal.ts";

const flags = {} as const satisfies Flags;
const NAME_CELLS = 10;

export const command: Command<typeof flags> = {
  usage: "channels",
  flags,
  isLooking: () => true,
  fields: Object.keys(ChannelView.shape),
  examples: ["askd channels", "askd channels --json"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("channels takes no arguments", command.usage);
    const engine = await context.engine({ isReading: true });
    await replaceLostWorker(engine, context);
    const channels = await engine.listChannels();
    const now = await engine.now();
    printResult(context, command.fields ?? [], {
      page: () => renderChannels(channels, now, context.program),
      json: () => channels.map(viewChannel),
    });
    return 0;
  },
};

/** The configured channels, one line each, with what they last did. */
function renderChannels(channels: readonly ChannelState[], now: Instant, program: string) {
  if (channels.length === 0) {
    return [
      "No channel is configured: people see questions here and on the web only.",
      `Set one up: ${program} setup desktop, ${program} setup ntfy, ${program} setup telegram, ${program} setup slack, ${program} setup chat, ${program} setup github or ${program} setup email`,
      "",
    ].join("\n");
  }
  const lines = channels.map(
    (channel) => `${padCells(channelName(channel.name), NAME_CELLS)}  ${sayChannel(channel, now, program)}`,
  );
  return `${lines.join("\n")}\n`;
}

/** `failing for ada since 12m ago` */
function sayFailing({ person, since }: NonNullable<ChannelState["outage"]>, now: Instant) {
  return `failing${person === undefined ? "" : ` for ${oneLine(person)}`} since ${sayAgo(since, now)}`;
}

function sayChannel(channel: ChannelState, now: Instant, program: string) {
  const { name, lastSentAt, outage, waiting, listenedUntil, recipients } = channel;
  if (recipients === 0) return sayUnpaired(name, program);
  const parts = [
    lastSentAt === undefined ? "nothing sent yet" : `last sent ${sayAgo(lastSentAt, now)}`,
    ...(outage ? [`${sayFailing(outage, now)}: ${oneLine(outage.why)}`] : []),
    ...(waiting > 0 ? [`${pluralize(waiting, "message")} waiting`] : []),
    ...(listenedUntil !== undefined && listenedUntil > now ? ["listening for replies"] : []),
  ];
  return parts.join(", ");
}
