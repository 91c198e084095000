import { sayMany } from "../../../core/text/plural.ts";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { requireMay } from "../../../core/people/access.ts";
import { Refusal } from "../../../core/refusal.ts";
import { checkExport, importLines } from "../../../engine/trail/import.ts";
import { verify } from "../../../engine/trail/verify.ts";
import { whoManages } from "../../actor.ts";
import { requireOne } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { withStore } from "./direct-store.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";

const EXIT_PROBLEMS = 1;
const flags = {};
const FIELDS = ["runs", "skipped", "people", "templates", "conflicts", "problems"];

export const command: Command<typeof flags> = {
  usage: "import <file>",
  flags,
  fields: FIELDS,
  examples: ["askd import askd.ndjson", "askd import askd.ndjson --store postgres://host/askd"],
  async run(args, context) {
    const file = resolve(context.cwd, requireOne(args.positionals, command.usage));
    await requireFile(file);
    // Once to see that it is whole, once to write: a damaged file changes nothing.
    await checkExport(linesOf(file));
    const result = await withStore(context, async (store) => {
      requireMay("maintain", await whoManages(store, context));
      const imported = await importLines(store, linesOf(file));
      return { ...imported, problems: (await verify(store)).problems };
    });
    printResult(context, FIELDS, { page: () => render(result), json: () => result });
    return result.problems.length + result.conflicts.length === 0 ? 0 : EXIT_PROBLEMS;
  },
};

function render({ runs, skipped, people, templates, conflicts, problems }: Result): string {
  const lines = [
    `✓ ${sayMany(runs, "run")}, ${people} people and ${sayMany(templates, "template")} imported; there already: ${sayMany(skipped, "run")}`,
    ...conflicts.map((conflict) => `! left out: ${oneLine(conflict)}`),
    ...(problems.length === 0 ? ["  The trail is whole."] : problems.map((problem) => `! ${oneLine(problem)}`)),
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

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new Refusal("not_found", `There is no file ${oneLine(file)}`);
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    if (line !== "") yield line;
  }
}
