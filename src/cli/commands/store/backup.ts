import { dirname, join, resolve } from "node:path";
import type { Instant } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { optionalArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { printResult } from "../../output.ts";
import { requireMaintainer, requireTarget } from "./direct-store.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["at", "file", "bytes"];
const flags = {};

export const command: Command<typeof flags> = {
  usage: "backup [<file>]",
  flags,
  fields: FIELDS,
  examples: ["askd backup", "askd backup /mnt/backup/askd.db", "askd backup askd.dump --store postgres://host/askd"],
  async run(args, context) {
    const name = optionalArgument(args.positionals, command.usage);
    const { store } = context.place;
    if (store.kind === "server") {
      throw new Refusal("bad_input", "The store belongs to the server; back it up there", {
        hint: "Run this on the server's machine, without ASKD_URL",
      });
    }
    await requireMaintainer(context);
    const at = context.now();
    const target = name === undefined ? usualFile(store, at) : resolve(context.cwd, name);
    requireTarget(target, context);
    const { backUpLaunches } = await import("../../../agents/runner/launch-backup.ts");
    const input = { at, prepare: () => backUpLaunches(context.place.stateDir, target) };
    const backup =
      store.kind === "sqlite"
        ? await (await import("../../../store/sqlite/backup.ts")).backUp(store.file, target, input)
        : await (
            await import("../../../store/postgres/dump.ts")
          ).dumpPostgres({ address: store.url, target, ...input });
    printResult(context, FIELDS, {
      page: () =>
        context.isQuiet ? "" : `✓ Backed up to ${oneLine(backup.file)} (${sayBytes(backup.bytes)}); verified\n`,
      json: () => backup,
    });
    return 0;
  },
};

function usualFile(store: { kind: "sqlite"; file: string } | { kind: "postgres" }, at: Instant) {
  if (store.kind === "sqlite") return join(dirname(store.file), "backups", `askd-${stampOf(at)}.db`);
  throw new Refusal("bad_input", "A PostgreSQL store has no folder for backups", {
    hint: "Name a file: askd backup askd.dump",
  });
}

function stampOf(at: Instant) {
  return `${at.slice(0, 19).replaceAll(":", "")}Z`;
}

function sayBytes(bytes: number) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
