import { join } from "node:path";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { Refusal } from "../../../core/refusal.ts";
import { applyPlans } from "../../../setup/apply.ts";
import { type ClientSurroundings, type Client, SCOPES, type Scope } from "../../../agents/wiring.ts";
import {
  type FoundClient,
  OTHER_CLIENTS,
  clientsOf,
  findClient,
  findClients,
  findOne,
  renderOther,
} from "../../../setup/clients.ts";
import { planGuide, planProjectFile } from "../../../setup/project-file.ts";
import { isChange, planClients } from "../../../setup/plan.ts";
import { renderSnippet } from "../../../setup/desired-config.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { listRecords, type UndoResult, recordsFor, undoRecord } from "../../../setup/undo.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { requirePerson } from "../../actor.ts";
import { oneLine } from "../../view/sanitise.ts";
import { printResult } from "../../output.ts";
import { VERSION } from "../../version.ts";
import { findRepository } from "../run/repository.ts";
import { askTest, sayHowToTest, sayService } from "./init-test.ts";
import { type Wired, renderApplied, renderDiffs, renderPlan, viewPlans, nameOf } from "./init-view.ts";
import { findTop, setupAround } from "./find-surroundings.ts";

const MOST_TRIES = 20;

const flags = {
  client: { type: "string", multiple: true, value: "name", about: "Only this one; can be repeated" },
  scope: {
    type: "string",
    value: "scope",
    about: "local (this project, you), project (all who share it) or user (local)",
  },
  yes: { type: "boolean", about: "Go ahead without asking" },
  "dry-run": { type: "boolean", about: "Show what would change as a diff, write nothing" },
  undo: { type: "boolean", about: "Put everything back that init changed for this project" },
  print: {
    type: "string",
    optional: /^[a-z][\w-]*$/,
    value: "client",
    about: "Show what to write by hand, change nothing",
  },
  instructions: { type: "boolean", about: "Also teach agents to ask, in AGENTS.md or CLAUDE.md" },
  "no-test": { type: "boolean", about: "Send no test question" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "init [--client <name>] [--scope local|project|user] [--dry-run | --yes | --undo | --print [client]]",
  flags,
  fields: ["version", "dir", "scope", "clients", "files", "written"],
  examples: [
    "askd init                    finds your agents, shows what would change, asks",
    "askd init --client claude    only Claude Code",
    "askd init --undo             puts every file back",
  ],
  async run(args, context) {
    if (args.positionals.length > 0)
      throw wrongUsage(`"${oneLine(args.positionals[0] ?? "")}" is too much`, command.usage);
    const around = await setupAround(context);
    if (args.flags.print !== undefined) return printSnippets(args.flags.print, around, context);
    if (args.flags.undo && args.flags["dry-run"])
      throw wrongUsage("--undo has no preview; look at what it would put back with: git diff", command.usage);
    if (args.flags.undo) return undoInit(around.dir, historyDir(context), context);
    return init(args.flags, around, context);
  },
};

/** Where copies of changed files are kept, with what it takes to undo the changes. */
function historyDir({ place }: Context) {
  return join(place.stateDir, "init");
}

async function init(given: FlagValues, around: ClientSurroundings, context: Context) {
  const scope = readScope(given.scope);
  // Some programs take seconds to say who they are.
  if (context.stderr.isTty && !context.isQuiet) context.stderr.write("Looking for agents…\n");
  const clients = await chooseClients(given.client ?? [], around, clientsOf(await context.agents()));
  const makePlans = () => planAll(clients, { scope, around, hasGuide: given.instructions ?? false });
  const plans = await makePlans();
  const { isRepository } = await findTop(context.cwd);
  const { repo } = await findRepository(around.dir, context.readFile);
  const wired: Wired = {
    version: VERSION,
    dir: around.dir,
    homeDir: around.homeDir,
    isRepository,
    repo,
    scope,
    clients,
    plans,
  };
  if (given["dry-run"]) return showOnly(wired, context);
  if (!context.json) context.stdout.write(renderPlan(wired, context));
  if (!plans.some(isChange)) return end({ ...wired, written: [], failed: [] }, context);
  await requirePerson("change the settings", context);
  const interrupt = given.yes ? undefined : context.interrupt();
  if (interrupt && !(await mayGoAhead(wired, interrupt, context))) {
    context.stderr.write("Nothing was changed.\n");
    return interrupt.aborted ? EXIT_CODE.interrupted : EXIT_CODE.usage;
  }
  // Programs that run write to their files too: what is carried out is what is right now.
  const { done, failed } = await applyPlans(await makePlans(), {
    root: historyDir(context),
    now: context.now(),
    dir: around.dir,
  });
  const exitCode = end({ ...wired, written: done, failed }, context);
  if (context.json) return exitCode;
  await sayService(context);
  const isTested = !given["no-test"] && !given.yes && context.mayPrompt;
  const isFine = isTested ? await askTest(context) : sayHowToTest(context);
  context.stdout.write(`\nNext: ${context.program} run -- claude -p "…"    What waits for you: ${context.program}\n`);
  return isFine ? exitCode : EXIT_CODE.error;
}

async function planAll(
  clients: readonly FoundClient[],
  { scope, around, hasGuide }: { scope: Scope; around: ClientSurroundings; hasGuide: boolean },
) {
  return [
    ...(await planClients(
      clients.map(({ client }) => ({ client, scope })),
      around,
    )),
    ...(hasGuide ? await planGuide(around.dir) : []),
    ...(scope === "user" ? [] : await planProjectFile(around.dir)),
  ];
}

/** Says how it went; files that were left alone make it a failure. */
function end(result: Parameters<typeof renderApplied>[0], context: Context) {
  printResult(context, command.fields ?? [], {
    page: () => renderApplied(result, context),
    json: () => ({ ...viewPlans(result), written: result.written.map(({ file }) => file) }),
  });
  return result.failed.length > 0 || result.plans.some(({ problem }) => problem) ? EXIT_CODE.error : 0;
}

function showOnly(wired: Wired, context: Context) {
  printResult(context, command.fields ?? [], {
    page: () => renderDiffs(wired, context),
    json: () => ({ ...viewPlans(wired), written: [] }),
  });
  return 0;
}

/** Asks the person; without one, says what to type. */
async function mayGoAhead(wired: Wired, interrupt: AbortSignal, context: Context) {
  if (!context.mayPrompt || context.json) {
    throw new Refusal("bad_input", "Nobody can be asked here, so nothing was changed", {
      hint: `Look at it with: ${context.program} init --dry-run; do it with: ${context.program} init --yes`,
    });
  }
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    context.stderr.write("Show the diff? [d]  Go ahead? [Y/n] ");
    const typed = (await context.stdin.readLine(interrupt))?.trim().toLowerCase();
    if (typed === undefined || /^(?:n|no|q|quit)$/.test(typed)) return false;
    if (/^(?:|y|yes)$/.test(typed)) return true;
    if (/^(?:d|diff)$/.test(typed)) context.stdout.write(renderDiffs(wired, context));
  }
  return false;
}

function readScope(given: string | undefined) {
  const scope = SCOPES.find((one) => one === (given ?? "local"));
  if (scope) return scope;
  throw new Refusal("bad_input", `There is no scope "${oneLine(given ?? "")}"`, {
    hint: `Choose from: ${SCOPES.join(", ")}`,
  });
}

/** Those that were named, here or not; else all that are in use here. */
async function chooseClients(names: readonly string[], around: ClientSurroundings, known: readonly Client[]) {
  if (names.length > 0) {
    const clients = [...new Set(names.map((name) => getClient(name, known)))];
    return Promise.all(clients.map(async (client) => (await findOne(client, around)) ?? { client }));
  }
  const found = await findClients(known, around);
  if (found.length > 0) return found;
  throw new Refusal("not_found", "No agent that askd knows was found on this machine", {
    hint: `Name one: askd init --client ${known.map(({ name }) => name).join("|")}; for others: askd init --print`,
  });
}

function getClient(name: string, known: readonly Client[]) {
  const client = findClient(known, name.toLowerCase());
  if (client) return client;
  throw new Refusal("bad_input", `init does not know the client "${oneLine(name)}"`, {
    hint: `Choose from: ${known.map((one) => one.name).join(", ")}. For others: askd init --print`,
  });
}

/** Prints the settings to write by hand: file names on stderr, the text alone on stdout if it is one file. */
async function printSnippets(name: string, around: ClientSurroundings, context: Context) {
  const clients = clientsOf(await context.agents());
  const names = [...clients, ...OTHER_CLIENTS].map((one) => one.name).join(", ");
  const known = findClient(clients, name);
  const other = OTHER_CLIENTS.find((one) => one.name === name);
  if (known) return printKnown(known, around, context);
  if (other) return print(context, `${other.title}: ${nameOf(other.file(around), around)}`, renderOther(other, around));
  if (name === "" || name === "generic") return print(context, sayGeneric(names), renderOther(undefined, around));
  throw new Refusal("bad_input", `There is nothing to print for "${oneLine(name)}"`, {
    hint: `Choose from: ${names}, generic`,
  });
}

function printKnown(client: Client, around: ClientSurroundings, context: Context) {
  for (const { file, format, wishes } of client.targets("user", around)) {
    print(context, `${client.title}: ${nameOf(file, around)}`, renderSnippet(format, wishes));
  }
  return 0;
}

function sayGeneric(names: string) {
  return `Any client that speaks MCP. Known by name: ${names}`;
}

function print({ stdout, stderr, isQuiet }: Context, head: string, text: string) {
  if (!isQuiet) stderr.write(`${head}\n`);
  stdout.write(text);
  return 0;
}

/** Puts back what init changed for this project, the newest change first. */
async function undoInit(dir: string, root: string, context: Context) {
  const records = await recordsFor(root, dir);
  if (records.length === 0) throw await nothingToUndo(dir, root);
  await requirePerson("change the settings", context);
  const undone: UndoResult[] = [];
  for (const record of records) undone.push(...(await undoRecord(record)));
  const last = [...new Map(undone.map((one) => [one.file, one])).values()];
  printResult(context, command.fields ?? [], {
    page: () => last.map((one) => `${say(one, dir, context)}\n`).join(""),
    json: () => ({ dir, files: last }),
  });
  return last.some(({ is }) => is === "failed") ? EXIT_CODE.error : 0;
}

async function nothingToUndo(dir: string, root: string) {
  const others = [...new Set((await listRecords(root)).map((record) => record.dir))];
  const hint = others.length > 0 ? `It was used in ${others.map(oneLine).join(", ")}` : "Wire your agents: askd init";
  return new Refusal("not_found", `init has changed nothing for ${oneLine(dir)}`, { hint });
}

function say(one: UndoResult, dir: string, { style, homeDir }: Context) {
  const name = nameOf(one.file, { dir, homeDir });
  const done = style.green("✓");
  switch (one.is) {
    case "restored":
      return `${done} ${name} is as it was`;
    case "removed":
      return `${done} ${name} is gone again`;
    case "taken_out":
      return `${done} ${name} was changed since; only what is of askd was taken out`;
    case "kept":
      return `${done} ${name} was changed since; it stays`;
    case "failed":
      return `${style.red("✗")} ${name} was left as it is: ${oneLine(one.why)}`;
    default:
      return unreachable(one);
  }
}
