import { Refusal } from "../core/refusal.ts";
import { requireOne } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { serviceFile } from "./service-file.ts";

const flags = {
  print: { type: "boolean", about: "Show the file, write nothing" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "service install|uninstall|status",
  flags,
  examples: ["askd service install    askd starts when you sign in"],
  async run(args, context) {
    const what = requireOne(args.positionals, command.usage);
    if (what === "install") return install(context, args.flags.print ?? false);
    if (what === "uninstall") return uninstall(context);
    if (what === "status") return status(context);
    throw new Refusal("bad_input", `service has no "${what}"`, { hint: `Usage: askd ${command.usage}` });
  },
};

async function install(context: Context, onlyPrint: boolean): Promise<number> {
  const file = serviceFile(context);
  if (onlyPrint) {
    context.stdout.write(file.text);
    return 0;
  }
  await context.writeFile(file.path, file.text);
  context.stdout.write(`${file.path}\n`);
  if (!context.isQuiet) context.stderr.write(`✓ askd will start when you sign in. Start it now: ${file.start}\n`);
  return 0;
}

async function uninstall(context: Context): Promise<number> {
  const file = serviceFile(context);
  const wasThere = await context.removeFile(file.path);
  if (!wasThere) throw new Refusal("not_found", `There is no service at ${file.path}`, { hint: "Nothing to do" });
  if (!context.isQuiet) context.stderr.write(`✓ Removed ${file.path}. Stop what still runs: ${file.stop}\n`);
  return 0;
}

/** Where the server of this user answers, if one does. */
async function status(context: Context): Promise<number> {
  const address = await context.findServer();
  if (address === undefined) {
    throw new Refusal("store_unreachable", "No server is running", { hint: "Start it: askd serve" });
  }
  context.stdout.write(`${address}\n`);
  return 0;
}
