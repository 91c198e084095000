import { type QuestionId, randomPart } from "../../../core/id.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { optionalArgument } from "../../arguments.ts";
import { getRunningServer, getServer } from "../../public-address.ts";
import { saySignIn } from "../../sign-in-link.ts";
import { findBrowser } from "../../terminal/browser.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../find-target.ts";

const flags = {
  print: { type: "boolean", about: "Only print the address" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "open [<id>] [--print]",
  flags,
  fields: ["url"],
  examples: ["askd open", "askd open 42", "askd open q-7k3f --print"],
  async run(args, context) {
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    const name = optionalArgument(args.positionals, command.usage);
    const path = name === undefined ? "/" : await pathOf(engine, name);
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
  const by = await whoManages(engine, context);
  const server = by.scope === "agent" ? await getRunningServer(context) : await getServer(context);
  const url = `${server}${path}`;
  printResult(context, ["url"], { page: () => `${url}\n`, json: () => ({ url }) });
  const browser = isPrinted || context.json ? undefined : findBrowser(context);
  if (!isPrinted) await saySignIn(server, path, engine, context);
  if (!browser) return 0;
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
