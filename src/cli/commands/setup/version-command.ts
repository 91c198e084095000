import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { printResult } from "../../output.ts";
import { VERSION } from "../../version.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "version",
  isLooking: () => true,
  flags,
  fields: ["version"],
  examples: ["askd version", "askd version --json"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    printResult(context, ["version"], { page: () => `${VERSION}\n`, json: () => ({ version: VERSION }) });
    return 0;
  },
};
