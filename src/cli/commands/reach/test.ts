import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { tryChannel } from "./try-channel.ts";

const flags = {} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "test <channel>",
  flags,
  examples: ["askd test ntfy", "askd test telegram"],
  run: (args, context) => tryChannel(requireOneArgument(args.positionals, command.usage), context),
};
