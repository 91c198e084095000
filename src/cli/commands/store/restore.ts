import { pluralize } from "../../../core/text/plural.ts";
import { resolve } from "node:path";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { Refusal } from "../../../core/refusal.ts";
import { checkWaitingRuns, listRunsElsewhere } from "../../../doctor/waiting-run.ts";
import { needsAction, type Finding } from "../../../doctor/finding.ts";
import { verify } from "../../../engine/trail/verify.ts";
import type { Store } from "../../../store/store.ts";
import { requirePerson } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["backup", "aside", "runs", "questions", "problems", "stuck"];
const flags = {};

interface Restored {
  backup: string;
  /** Where the store is that was there before. */
  aside: string | undefined;
  runs: number;
  questions: number;
  problems: string[];
  /** Runs that cannot be taken up here, each with the way out. */
  stuck: Array<{ text: string; fix: string | undefined }>;
}

export const command: Command<typeof flags> = {
  usage: "restore <backup>",
  flags,
  fields: FIELDS,
  examples: ["askd restore /mnt/backup/askd.db", "askd restore askd.dump --store postgres://host/askd"],
  async run(args, context) {
    const backup = resolve(context.cwd, requireOneArgument(args.positionals, command.usage));
    const { store } = context.place;
    if (store.kind === "server") {
      throw new Refusal("bad_input", "The store belongs to the server; restore it there", {
        hint: "Run this on the server's machine, without ASKD_URL",
      });
    }
    await requirePerson("restore the store", context);
    const aside =
      store.kind === "sqlite"
        ? await restoreFile(store.file, backup, context)
        : await restoreDump(store.url, backup, context);
    const result = { backup, aside, ...(await look(context)) };
    printResult(context, FIELDS, { page: () => asTyped(render(result), context.program), json: () => result });
    return result.problems.length === 0 ? 0 : EXIT_CODE.error;
  },
};

async function restoreFile(database: string, backup: string, context: Context) {
  const { restoreSqlite } = await import("../../../store/sqlite/restore.ts");
  const prepare = await prepareRuns(backup, context);
  const { aside } = await restoreSqlite({ database, backup, at: context.now(), prepare });
  return aside;
}

async function restoreDump(address: string, dump: string, context: Context) {
  const { restorePostgres } = await import("../../../store/postgres/restore.ts");
  return restorePostgres({ address, dump, prepare: await prepareRuns(dump, context) });
}

/** Prepares the files of this machine's runs for the store that is about to be restored. */
async function prepareRuns(backup: string, { place: { stateDir } }: Context) {
  const { restoreLaunches, requireLaterStartsEnded } = await import("../../../agents/runner/launch-backup.ts");
  return async (copy: Store) => {
    await requireLaterStartsEnded(stateDir, copy);
    await restoreLaunches(backup, stateDir);
  };
}

/** Looks at the restored store; nothing that is due is done by that. */
async function look(context: Context): Promise<Omit<Restored, "backup" | "aside">> {
  const { store: place } = context.place;
  if (place.kind === "server") throw new Error("a server restores its own store");
  const store = await context.openStore({ ...place, isReadOnly: true });
  try {
    const { runs, problems } = await verify(store);
    const counts = await Promise.all(
      (["pending", "answered", "timeout", "cancelled"] as const).map((status) => store.countQuestions(status)),
    );
    const stuck = (await listStuck(store, context)).map(({ text, fix }) => ({ text, fix }));
    return { runs, questions: counts.reduce((sum, count) => sum + count, 0), problems, stuck };
  } finally {
    await store.close();
  }
}

async function listStuck(store: Store, context: Context): Promise<Finding[]> {
  const { env, place } = context;
  const at = { env, stateDir: place.stateDir, host: await context.host(), agents: await context.agents() };
  return [...(await checkWaitingRuns(store, at)).filter(needsAction), ...(await listRunsElsewhere(store, at.host))];
}

function render({ backup, aside, runs, questions, problems, stuck }: Restored) {
  const lines = [
    `✓ Restored ${oneLine(backup)}: ${pluralize(runs, "run")}, ${pluralize(questions, "question")}`,
    ...(aside === undefined ? [] : [`  The store that was there is in ${oneLine(aside)}`]),
    ...(problems.length === 0 ? ["  The trail is verified."] : problems.map((problem) => `! ${oneLine(problem)}`)),
    ...stuck.map(({ text, fix }) => `! ${oneLine(text)}${fix === undefined ? "" : `: ${oneLine(fix)}`}`),
    "  Nothing was started: askd service start, or askd worker",
  ];
  return `${lines.join("\n")}\n`;
}
