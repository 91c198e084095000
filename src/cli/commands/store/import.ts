import { pluralize } from "../../../core/text/plural.ts";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { requireAccess } from "../../../core/people/access.ts";
import { Refusal } from "../../../core/refusal.ts";
import { quoteShellWord } from "../../../core/text/shell-word.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { checkExport, importLines } from "../../../engine/trail/import.ts";
import { verify } from "../../../engine/trail/verify.ts";
import { whoManages } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { isKeyName } from "../../../core/trail/export-signature.ts";
import type { Flags } from "../../flags.ts";
import { withDirectStore } from "./direct-store.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";

const flags = {
  "from-key": { type: "string", value: "key", about: "Refuse a file that this key did not sign (askd export --key)" },
  unsigned: { type: "boolean", about: "Also take a file that nobody signed: anything in it may have been changed" },
} as const satisfies Flags;
const FIELDS = ["key", "runs", "skipped", "people", "templates", "conflicts", "problems"];

export const command: Command<typeof flags> = {
  usage: "import <file> [--from-key <key> | --unsigned]",
  flags,
  fields: FIELDS,
  examples: ["askd import askd.ndjson", "askd import askd.ndjson --store postgres://host/askd"],
  async run(args, context) {
    const file = resolve(context.cwd, requireOneArgument(args.positionals, command.usage));
    await requireFile(file);
    // Check first, then write: a damaged file changes nothing.
    const expected = args.flags["from-key"];
    if (expected !== undefined && !isKeyName(expected)) {
      throw new Refusal("bad_input", `"${oneLine(expected)}" is not a key`, {
        hint: "Ask where the file was made: askd export --key",
      });
    }
    const { key } = await checkExport(linesOf(file), expected);
    if (key === undefined && !args.flags.unsigned) throw notSigned(file);
    const result = await withDirectStore(context, async (store) => {
      const by = await whoManages(store, context);
      requireAccess("maintain", by);
      const imported = await importLines(store, linesOf(file), by, { key });
      return { key: key ?? null, ...imported, problems: (await verify(store)).problems };
    });
    printResult(context, FIELDS, { page: () => render(result), json: () => result });
    return result.problems.length + result.conflicts.length === 0 ? 0 : EXIT_CODE.error;
  },
};

/** Of an unsigned file only questions, answers and texts are compared with a trail; runs, jobs and people are not. */
function notSigned(file: string) {
  return new Refusal("bad_input", "The export is not signed; nothing was imported", {
    hint: `Export again where it was made; or take the file as it is: askd import ${quoteShellWord(file)} --unsigned`,
  });
}

function render({ key, runs, skipped, people, templates, conflicts, problems }: Result) {
  const lines = [
    `✓ ${pluralize(runs, "run")}, ${people === 1 ? "1 person" : `${people} people`} and ${pluralize(templates, "template")} imported; already present: ${pluralize(skipped, "run")}`,
    key === null ? "! The file is not signed: nothing tells where it comes from." : `  Signed by ${key}`,
    ...conflicts.map((conflict) => `! skipped: ${oneLine(conflict)}`),
    ...(problems.length === 0 ? ["  The trail is verified."] : problems.map((problem) => `! ${oneLine(problem)}`)),
  ];
  return `${lines.join("\n")}\n`;
}

interface Result {
  key: string | null;
  runs: number;
  skipped: number;
  people: number;
  templates: number;
  conflicts: string[];
  problems: string[];
}

async function requireFile(file: string) {
  const found = await stat(file).catch(() => undefined);
  if (!found) throw new Refusal("not_found", `There is no file ${oneLine(file)}`);
  if (!found.isFile()) {
    throw new Refusal("bad_input", `${oneLine(file)} is not a file`, { hint: "Name the file that askd export wrote" });
  }
}

async function* linesOf(file: string) {
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    if (line !== "") yield line;
  }
}
