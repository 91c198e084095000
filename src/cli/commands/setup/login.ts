import type { Actor } from "../../../core/people/actor.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";

const flags = {
  admin: { type: "boolean", about: "Sign in as an admin for an hour, to manage people, tokens and sessions" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "login [--admin]",
  flags,
  examples: ["askd login    prints a one-time code, valid for 10 minutes"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("login takes no arguments", command.usage);
    const engine = await context.engine();
    const by = await whoManages(engine, context);
    const grants = args.flags.admin ? { grants: "admin" as const } : {};
    const subject = await findSubject(engine, by, context);
    const { text } = await engine.issueToken({ scope: "login", subject, ...grants }, by);
    const address = await context.findServer();
    context.stdout.write(`${text}\n`);
    if (context.isQuiet) return 0;
    context.stderr.write(
      address ? `Open ${address}/login and enter it there\n` : `Start the server with: ${context.program} serve\n`,
    );
    return 0;
  },
};

/** The person whom the code signs in: the owner of the token, or this machine's user. */
async function findSubject(engine: Engine, by: Actor, { place: { store } }: Context) {
  const token = store.kind === "server" ? store.token : undefined;
  const bearer = token === undefined ? undefined : await engine.authenticate(token, "cli");
  return bearer?.actor.id ?? by.id;
}
