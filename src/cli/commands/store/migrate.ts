import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { withDirectStore } from "./direct-store.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";

const FIELDS = ["before", "after", "known"];

const flags = {
  check: { type: "boolean", about: "Only report whether this askd can use the store as it is; exit 1 if not" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "migrate [--check]",
  flags,
  fields: FIELDS,
  isLooking: ({ flags: { check } }) => check ?? false,
  examples: ["askd backup && askd migrate"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const { store } = context.place;
    if (store.kind === "server") throw new Refusal("bad_input", "The server migrates its own store");
    const before = await context.findSchema(store);
    const isOld = before.schema < before.known;
    if (isOld && !args.flags.check) await withDirectStore(context, async () => undefined); // opening the store migrates it
    const after = isOld && !args.flags.check ? await context.findSchema(store) : before;
    printResult(context, FIELDS, {
      page: () => asTyped(say(before.schema, after.schema, before.known), context.program),
      json: () => ({ before: before.schema, after: after.schema, known: before.known }),
    });
    return after.schema === before.known ? 0 : EXIT_CODE.error;
  },
};

function say(before: number, after: number, known: number) {
  if (before > known)
    return `The store is at schema ${before}; this askd knows ${known}. Update askd: npm install -g askd@latest\n`;
  if (after < known) return `The store is at schema ${after}; this askd needs ${known}. Run: askd migrate\n`;
  if (before === after) return `✓ The store is at schema ${after}; nothing to do\n`;
  return before === 0
    ? `✓ Created a store with schema ${after}\n`
    : `✓ Migrated the store from schema ${before} to ${after}\n`;
}
