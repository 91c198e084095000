import { pluralize } from "../../../core/text/plural.ts";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExportEnd } from "../../../core/trail/export.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type ExportQuery, exportStore } from "../../../engine/trail/export.ts";
import { ensureStoreKey, findStoreKey } from "../../../engine/trail/store-key.ts";
import { writeWhole } from "../../../store/backup-file.ts";
import type { Store } from "../../../store/store.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { requireMaintainer, requireTarget, withDirectStore } from "./direct-store.ts";
import { parsePast } from "../../view/time-argument.ts";
import { getRun } from "../../find-target.ts";
import { VERSION } from "../../version.ts";

const flags = {
  output: { type: "string", short: "o", value: "file", about: "Write to this file, readable by you only (stdout)" },
  force: { type: "boolean", about: "Overwrite the file if there is one" },
  since: { type: "string", value: "time", about: "Only runs created since a time: 30d or 2026-11-01" },
  run: { type: "string", value: "run", about: "Only this run" },
  "with-secrets": { type: "boolean", about: "Include callback secrets, to move a store; tokens are never exported" },
  key: { type: "boolean", about: "Print the public key that exports of this store are signed with" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "export [-o <file> [--force]] [--since <time>] [--run <run>] [--key]",
  flags,
  examples: ["askd export -o askd.ndjson", "askd export --run 42 | head", "askd export --key"],
  isLooking: () => true,
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const { output, force, since, run, "with-secrets": hasSecrets = false } = args.flags;
    const file = output && resolve(context.cwd, output);
    if (file !== undefined && !force && existsSync(file)) {
      throw new Refusal("bad_input", `${file} already exists; nothing was changed`, {
        hint: "Name another file, or overwrite it with --force",
      });
    }
    if (file !== undefined) requireTarget(file, context);
    if (file !== undefined && (await import("../../../store/sqlite/identity.ts")).isSqliteFile(file)) {
      throw new Refusal("bad_input", `${file} is a database; nothing was changed`, { hint: "Name another file" });
    }
    await requireMaintainer(context);
    if (args.flags.key) return printKey(context);
    const runId = run === undefined ? undefined : (await getRun(await context.engine(), run)).id;
    const end = await withDirectStore(context, async (store) => {
      const query = {
        version: VERSION,
        hasSecrets,
        since: since === undefined ? undefined : parsePast(since, await store.now(), context),
        runId,
        key: await keyOf(store, context),
      };
      return file === undefined ? printLines(store, query, context) : writeFile(store, query, file);
    });
    if (!context.isQuiet) context.stderr.write(describe(end, { isFile: file !== undefined }));
    return 0;
  },
};

/** The key of the store; one that is only read gets none. */
async function keyOf(store: Store, context: Context) {
  const { store: place } = context.place;
  const isReadOnly = place.kind !== "server" && (place.isReadOnly || (await isUnwritable(place)));
  return isReadOnly ? findStoreKey(store) : ensureStoreKey(store, await whoManages(store, context));
}

async function isUnwritable(place: Exclude<Context["place"]["store"], { kind: "server" }>) {
  if (place.kind !== "sqlite") return false;
  return (await import("../../../store/sqlite/read-only.ts")).findReadOnly(place.file) !== undefined;
}

async function printKey(context: Context) {
  const key = await withDirectStore(context, (store) => keyOf(store, context));
  if (!key) throw new Refusal("not_found", "This store has no key yet, and it is only to be read");
  context.stdout.write(`${key.name}\n`);
  return 0;
}

function describe(end: ExportEnd, { isFile }: { isFile: boolean }) {
  const { runs, questions, events, damaged = 0, signature } = end;
  const counts = `${pluralize(runs, "run")}, ${pluralize(questions, "question")} and ${pluralize(events, "event")}`;
  const lines = [
    ...(isFile ? [`✓ ${counts} exported, without access tokens; ${signature ? "signed" : "not signed"}`] : []),
    ...(damaged > 0
      ? [`! ${pluralize(damaged, "run")} exported as found: some of its rows cannot be read: askd doctor --fix`]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

async function printLines(store: Store, query: ExportQuery, context: Context) {
  return exportStore(store, query, async (text) => {
    context.stdout.write(`${text}\n`);
  });
}

function writeFile(store: Store, query: ExportQuery, file: string) {
  return writeWhole(file, async (draft) => {
    const out = await open(draft, "w");
    try {
      return await exportStore(store, query, (text) => out.writeFile(`${text}\n`));
    } finally {
      await out.close();
    }
  });
}
