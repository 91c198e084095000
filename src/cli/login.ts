import { whoManages } from "./actor.ts";
import { wrongUsage } from "./arguments.ts";
import type { Command } from "./command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "login",
  flags,
  examples: ["askd login    prints a code that signs you in once, within 10 minutes"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("login takes no arguments", command.usage);
    const engine = await context.engine();
    const by = await whoManages(engine, context);
    const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
    const address = await context.findServer();
    context.stdout.write(`${text}\n`);
    if (context.isQuiet) return 0;
    context.stderr.write(address ? `Open ${address}/login and type it there\n` : "Start the server with: askd serve\n");
    return 0;
  },
};
