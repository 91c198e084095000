import { pluralize } from "../../../core/text/plural.ts";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { once } from "node:events";
import { Refusal } from "../../../core/refusal.ts";
import { exportLines } from "../../../engine/trail/export.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { withDirectStore } from "./direct-store.ts";
import { parsePast } from "../../view/time-argument.ts";
import { getRun } from "../../target.ts";
import { VERSION } from "../../version.ts";

const FILE_MODE = 0o600;

const flags = {
  output: { type: "string", short: "o", value: "file", about: "Write to this file, readable by you only (stdout)" },
  force: { type: "boolean", about: "Overwrite the file if there is one" },
  since: { type: "string", value: "time", about: "Only runs created since a time: 30d or 2026-11-01" },
  run: { type: "string", value: "run", about: "Only this run" },
  "with-secrets": { type: "boolean", about: "Include callback secrets, to move a store; tokens are never exported" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "export [-o <file> [--force]] [--since <time>] [--run <run>]",
  flags,
  examples: ["askd export -o askd.ndjson", "askd export --run 42 | head"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const { output, force, since, run, "with-secrets": hasSecrets = false } = args.flags;
    const file = output && resolve(context.cwd, output);
    if (file !== undefined && !force && existsSync(file)) {
      throw new Refusal("bad_input", `${file} already exists; nothing was changed`, {
        hint: "Name another file, or overwrite it with --force",
      });
    }
    const runId = run === undefined ? undefined : (await getRun(await context.engine(), run)).id;
    const counts = await withDirectStore(context, async (store) => {
      const query = {
        version: VERSION,
        hasSecrets,
        since: since === undefined ? undefined : parsePast(since, await store.now(), context),
        runId,
      };
      return writeLines(exportLines(store, query), file, context);
    });
    if (output !== undefined && !context.isQuiet) {
      const { runs, questions, events } = counts;
      context.stderr.write(
        `✓ ${pluralize(runs, "run")}, ${pluralize(questions, "question")} and ${pluralize(events, "event")} exported, without tokens\n`,
      );
    }
    return 0;
  },
};

interface Counts {
  runs: number;
  questions: number;
  events: number;
}

/** Writes line by line; a file gets its final name when it is complete. */
async function writeLines(lines: ReturnType<typeof exportLines>, file: string | undefined, context: Context) {
  let counts: Counts = { runs: 0, questions: 0, events: 0 };
  if (file === undefined) {
    for await (const line of lines) {
      context.stdout.write(`${JSON.stringify(line)}\n`);
      if (line.kind === "end") counts = line;
    }
    return counts;
  }
  const draft = `${file}.part`;
  await mkdir(dirname(file), { recursive: true });
  await rm(draft, { force: true });
  const out = createWriteStream(draft, { mode: FILE_MODE, flags: "wx", flush: true });
  try {
    for await (const line of lines) {
      if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
      if (line.kind === "end") counts = line;
    }
    out.end();
    await once(out, "close");
    await rename(draft, file);
    return counts;
  } finally {
    out.destroy();
    await rm(draft, { force: true });
  }
}
