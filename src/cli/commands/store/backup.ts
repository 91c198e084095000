import { dirname, join, resolve } from "node:path";
import { Refusal } from "../../../core/refusal.ts";
import { optionalArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["at", "file", "bytes"];
const flags = {};

export const command: Command<typeof flags> = {
  usage: "backup [<file>]",
  flags,
  fields: FIELDS,
  examples: ["askd backup", "askd backup /mnt/backup/askd.db"],
  async run(args, context) {
    const name = optionalArgument(args.positionals, command.usage);
    const { store } = context.place;
    if (store.kind === "postgres") {
      throw new Refusal("bad_input", "Back up a PostgreSQL store with PostgreSQL's own tools", {
        hint: 'Type: pg_dump --format=custom --file=askd.dump "$ASKD_STORE"',
      });
    }
    if (store.kind === "server") {
      throw new Refusal("bad_input", "The store belongs to the server; back it up there", {
        hint: "Run this on the server's machine, without ASKD_URL",
      });
    }
    const { backUp } = await import("../../../store/sqlite/backup.ts");
    const at = context.now();
    const usual = join(dirname(store.file), "backups", `askd-${at.slice(0, 19).replaceAll(":", "")}Z.db`);
    const backup = await backUp(store.file, name === undefined ? usual : resolve(context.cwd, name), at);
    printResult(context, FIELDS, {
      page: () =>
        context.isQuiet ? "" : `✓ Backed up to ${oneLine(backup.file)} (${sayBytes(backup.bytes)}); verified\n`,
      json: () => backup,
    });
    return 0;
  },
};

function sayBytes(bytes: number) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
