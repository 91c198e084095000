import { whoManages } from "./actor.ts";
import { wrongUsage } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Flags } from "./flags.ts";

const flags = {
  admin: { type: "boolean", about: "Sign in as an admin, for an hour: people, tokens and sessions can be changed" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "login [--admin]",
  flags,
  examples: ["askd login    prints a code that signs you in once, within 10 minutes"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("login takes no arguments", command.usage);
    const engine = await context.engine();
    const by = await whoManages(engine, context);
    const grants = args.flags.admin ? { grants: "admin" as const } : {};
    const { text } = await engine.issueToken({ scope: "login", subject: by.id, ...grants }, by);
    const address = await context.findServer();
    context.stdout.write(`${text}\n`);
    if (context.isQuiet) return 0;
    context.stderr.write(
      address ? `Open ${address}/login and type it there\n` : `Start the server with: ${context.program} serve\n`,
    );
    return 0;
  },
};
