import { join } from "node:path";
import { type QuestionId, randomPart } from "../core/id.ts";
import { SECOND_MS } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { whoManages } from "./actor.ts";
import { requireOne } from "./arguments.ts";
import { isServiceOff } from "./background.ts";
import { findBrowser } from "./browser.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { pauseFor } from "./pause.ts";
import { printResult } from "./output.ts";
import { getTarget } from "./target.ts";

const START_MS = 10 * SECOND_MS;
const LOOK_MS = 100;
const REPLY_MS = SECOND_MS;

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
    const path = await pathOf(engine, requireOne(args.positionals, command.usage));
    return openPage(path, { isPrinted: args.flags.print ?? false }, engine, context);
  },
};

/** Prints the address of a page of the server, which is started where there is none, and shows it in the browser. */
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
    .catch(() => false); // whatever the reason, the address is printed
  if (!isShown && !context.isQuiet)
    context.stderr.write("The browser could not be started; open the address yourself\n");
  return 0;
}

/** The page of what somebody named: a question's own, or the run's where it asks nothing. */
export async function pathOf(engine: Engine, name: string): Promise<string> {
  const target = await getTarget(engine, name);
  if (target.named === "question") return questionPath(target.question.id);
  const { pendingId, number } = target.run;
  return pendingId ? questionPath(pendingId) : `/runs/${number}`;
}

/** The page of a question: its whole id, since a short one may come to fit two. */
export function questionPath(id: QuestionId): string {
  return `/q/${randomPart(id)}`;
}

async function getServer(context: Context): Promise<string> {
  const found = await context.findServer();
  if (context.place.store.kind === "server" && found !== undefined) return found;
  if (found !== undefined && (await isUp(found))) return found;
  if (isServiceOff(context.env)) throw noServer("No server runs here");
  if (!context.isQuiet) context.stderr.write("Starting the server…\n");
  const log = join(context.place.stateDir, "serve.log");
  await context.detach({ argv: serveArgv(context), env: ownEnv(context), log });
  const signal = context.interrupt();
  for (let waitedMs = 0; waitedMs < START_MS && !signal.aborted; waitedMs += LOOK_MS) {
    const started = await context.findServer();
    if (started !== undefined && (await isUp(started))) return started;
    await pauseFor(LOOK_MS, signal, context);
  }
  throw noServer(`The server did not start; ${log} says why`);
}

function noServer(problem: string): Refusal {
  return new Refusal("store_unreachable", problem, { hint: "Start it with: askd serve" });
}

/** Says whether somebody answers at that address: a server that was killed leaves its word behind. */
async function isUp(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/health`, { signal: AbortSignal.timeout(REPLY_MS) });
    return true;
  } catch {
    return false; // nobody is there
  }
}

function serveArgv({ self, place }: Context): string[] {
  const { store } = place;
  const where = store.kind === "sqlite" ? `sqlite:${store.file}` : store.url;
  return [...self, "--store", where, "serve"];
}

/** Only what tells the server where things are. */
function ownEnv({ env }: Context): Record<string, string> {
  const names = ["HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "ASKD_HOME", "ASKD_CONFIG_DIR"];
  const xdg = ["CONFIG_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR", "CACHE_HOME"].map((name) => `XDG_${name}`);
  return Object.fromEntries([...names, ...xdg].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** A person at the terminal of the store may sign in as themselves; the code works once. */
async function sayCode(engine: Engine, context: Context): Promise<void> {
  if (context.isQuiet || !context.stderr.isTty || context.place.store.kind === "server") return;
  const by = await whoManages(engine, context);
  if (by.scope === "agent") return;
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  context.stderr.write(`If it asks who you are, type this code, good once: ${text}\n`);
}
