import { Refusal } from "../../../core/refusal.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { withStore } from "./direct-store.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";

const FIELDS = ["before", "after", "known"];
const EXIT_OLD = 1;

const flags = {
  check: { type: "boolean", about: "Only say whether there is something to do; exit 1 if there is" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "migrate [--check]",
  flags,
  fields: FIELDS,
  examples: ["askd backup && askd migrate"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`"${args.positionals[0]}" is too much`, command.usage);
    const { store } = context.place;
    if (store.kind === "server") throw new Refusal("bad_input", "The server looks after its own store");
    const before = await context.findSchema(store);
    const isOld = before.schema < before.known;
    if (isOld && !args.flags.check) await withStore(context, async () => undefined); // opening it is what migrates it
    const after = isOld && !args.flags.check ? await context.findSchema(store) : before;
    printResult(context, FIELDS, {
      page: () => asTyped(say(before.schema, after.schema, before.known), context.program),
      json: () => ({ before: before.schema, after: after.schema, known: before.known }),
    });
    return after.schema < before.known ? EXIT_OLD : 0;
  },
};

function say(before: number, after: number, known: number): string {
  if (before > known)
    return `The store is at schema ${before}; this askd knows ${known}. Update it: npm install -g askd@latest\n`;
  if (after < known)
    return `The store is at schema ${after}; this askd would bring it to ${known}. Type: askd migrate\n`;
  if (before === after) return `✓ The store is at schema ${after}; there is nothing to do\n`;
  return before === 0
    ? `✓ A store of schema ${after} was made\n`
    : `✓ The store went from schema ${before} to ${after}\n`;
}
