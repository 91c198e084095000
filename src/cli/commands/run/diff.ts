import { type ChangedFiles, findChangedFiles } from "../../../agents/runner/local-run.ts";
import type { DiffOptions } from "../../../agents/workspace/working-tree.ts";
import { Refusal } from "../../../core/refusal.ts";
import { machineName } from "../../../core/run/machine.ts";
import type { Run } from "../../../core/run/run.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { getRun } from "../../find-target.ts";
import { colourDiff, listNew } from "../../view/work-view.ts";

const flags = {
  stat: { type: "boolean", about: "Only the files and the number of changed lines" },
  raw: { type: "boolean", about: "The exact patch for git apply; not on a terminal" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "diff <id> [--stat | --raw]",
  isLong: () => true,
  isLooking: () => true,
  flags,
  examples: ["askd diff 42", "askd diff 42 --stat", "askd diff 42 --raw > work.patch"],
  async run(args, context) {
    const isRaw = args.flags.raw ?? false;
    if (isRaw && context.stdout.isTty) {
      throw new Refusal("bad_input", "--raw could send control sequences in the agent's files to this terminal", {
        hint: `Write it to a file: ${context.program} diff ${args.positionals[0] ?? "<id>"} --raw > work.patch`,
      });
    }
    const engine = await context.engine();
    const run = await getRun(engine, requireOneArgument(args.positionals, command.usage));
    const isStat = args.flags.stat ?? false;
    const changed = await getDiff(run, { isStat, newFiles: isRaw ? "applicable" : "shown" }, context);
    if (changed.diff === "" && changed.untracked.length === 0) {
      if (!context.isQuiet) context.stderr.write(`No changes in ${oneLine(run.dir ?? "")}\n`);
      return 0;
    }
    if (isRaw) {
      context.stdout.write(changed.diff);
      return 0;
    }
    context.stdout.write(listNew(changed));
    // Also in a pipe: a pager or head writes it to a terminal in the end.
    context.stdout.write(colourDiff(sanitise(changed.diff), context.style));
    return 0;
  },
};

/** The changes of a run's agent; refuses with the reason if they are not available here. */
export async function getDiff(run: Run, how: DiffOptions, context: Context): Promise<ChangedFiles> {
  const { dir } = run;
  if (dir === undefined || run.host !== (await context.host())) {
    const why = dir === undefined ? "has no directory" : `works on ${oneLine(machineName(run.host))}`;
    throw new Refusal("not_found", `#${run.number} ${why}; its work is not on this machine`, {
      hint: `See the run: ${context.program} show ${run.number}`,
    });
  }
  const found = await findChangedFiles(run, await context.host(), how);
  if (found) return found;
  const seen =
    run.giveBack === "worker" ? `what the agent did: ${context.program} logs` : `the run: ${context.program} show`;
  throw new Refusal("not_found", `There is no diff of #${run.number}: ${oneLine(dir)} is not under git`, {
    hint: `Look there yourself, or see ${seen} ${run.number}`,
  });
}
