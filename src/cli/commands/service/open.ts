import { type QuestionId, randomPart } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import { isServiceOff } from "./worker.ts";
import { findRunningServer, startServer } from "./serve.ts";
import { findBrowser } from "../../terminal/browser.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../target.ts";

const flags = {
  print: { type: "boolean", about: "Only print the address" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "open <id> [--print]",
  flags,
  fields: ["url"],
  examples: ["askd open 42", "askd open q-7k3f --print"],
  async run(args, context) {
    const engine = await context.engine();
    const path = await pathOf(engine, requireOneArgument(args.positionals, command.usage));
    return openPage(path, { isPrinted: args.flags.print ?? false }, engine, context);
  },
};

/** Prints the address of a page and opens it in the browser; starts the server if none runs. */
export async function openPage(
  path: string,
  { isPrinted }: { isPrinted: boolean },
  engine: Engine,
  context: Context,
): Promise<number> {
  const url = `${await getServer(context)}${path}`;
  printResult(context, ["url"], { page: () => `${url}\n`, json: () => ({ url }) });
  const browser = isPrinted || context.json ? undefined : findBrowser(context);
  if (!browser) return 0;
  await sayCode(engine, context);
  const isShown = await context
    .runChild({ argv: [...browser.argv, url], stdio: browser.stdio })
    .then(({ exitCode }) => exitCode === 0)
    .catch(() => false); // the address is printed in any case
  if (!isShown && !context.isQuiet) context.stderr.write("The browser did not start; open the address yourself\n");
  return 0;
}

/** The page of the named question, or of a run without one. */
export async function pathOf(engine: Engine, name: string): Promise<string> {
  const target = await getTarget(engine, name);
  if (target.named === "question") return questionPath(target.question.id);
  const { pendingId, number } = target.run;
  return pendingId ? questionPath(pendingId) : `/r/${number}`;
}

/** The page of a question, with the full id: a short one may become ambiguous. */
export function questionPath(id: QuestionId): string {
  return `/q/${randomPart(id)}`;
}

async function getServer(context: Context) {
  const found = await findRunningServer(context);
  if (found !== undefined) return found;
  if (isServiceOff(context.env)) {
    throw new Refusal("store_unreachable", "No server is running", { hint: "Start it with: askd serve" });
  }
  if (!context.isQuiet) context.stderr.write("Starting the server…\n");
  return startServer(context);
}

/** Prints a one-time sign-in code for the user of this store. */
async function sayCode(engine: Engine, context: Context) {
  if (context.isQuiet || !context.stderr.isTty || context.place.store.kind === "server") return;
  const by = await whoManages(engine, context);
  if (by.scope === "agent") return;
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  context.stderr.write(`To sign in there, use this one-time code: ${text}\n`);
}
