import { pluralize } from "../../../core/text/plural.ts";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { requireAccess } from "../../../core/people/access.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { checkExport, importLines } from "../../../engine/trail/import.ts";
import { verify } from "../../../engine/trail/verify.ts";
import { whoManages } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { withDirectStore } from "./direct-store.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";

const flags = {};
const FIELDS = ["runs", "skipped", "people", "templates", "conflicts", "problems"];

export const command: Command<typeof flags> = {
  usage: "import <file>",
  flags,
  fields: FIELDS,
  examples: ["askd import askd.ndjson", "askd import askd.ndjson --store postgres://host/askd"],
  async run(args, context) {
    const file = resolve(context.cwd, requireOneArgument(args.positionals, command.usage));
    await requireFile(file);
    // Check first, then write: a damaged file changes nothing.
    await checkExport(linesOf(file));
    const result = await withDirectStore(context, async (store) => {
      const by = await whoManages(store, context);
      requireAccess("maintain", by);
      const imported = await importLines(store, linesOf(file), by);
      return { ...imported, problems: (await verify(store)).problems };
    });
    printResult(context, FIELDS, { page: () => render(result), json: () => result });
    return result.problems.length + result.conflicts.length === 0 ? 0 : EXIT_CODE.error;
  },
};

function render({ runs, skipped, people, templates, conflicts, problems }: Result) {
  const lines = [
    `✓ ${pluralize(runs, "run")}, ${people} people and ${pluralize(templates, "template")} imported; already present: ${pluralize(skipped, "run")}`,
    ...conflicts.map((conflict) => `! skipped: ${oneLine(conflict)}`),
    ...(problems.length === 0 ? ["  The trail is verified."] : problems.map((problem) => `! ${oneLine(problem)}`)),
  ];
  return `${lines.join("\n")}\n`;
}

interface Result {
  runs: number;
  skipped: number;
  people: number;
  templates: number;
  conflicts: string[];
  problems: string[];
}

async function requireFile(file: string) {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new Refusal("not_found", `There is no file ${oneLine(file)}`);
}

async function* linesOf(file: string) {
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    if (line !== "") yield line;
  }
}
