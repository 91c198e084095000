import { findNearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";
import { EXIT_CODE } from "../core/exit-code.ts";
import { commandNames, findCommand } from "./command.ts";
import { parseFlags, splitCommand } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";
import { Interrupted } from "./terminal/interrupted.ts";
import { asTyped } from "./program.ts";
import { oneLine, sanitise } from "./view/sanitise.ts";
import { stayUntilDone } from "./keep-alive.ts";
import { requireReadableArguments } from "./terminal/decode-text.ts";
import { VERSION } from "./version.ts";
import { type FirstExchange, type ProcessWorld, contextOfProcess } from "./process.ts";

// Every start pays for these imports, help included: no schemas, no files, no network.

/** Runs the command line in this process. */
export async function start(process: NodeJS.Process, first?: FirstExchange): Promise<void> {
  const world = contextOfProcess(process, first);
  const leave = stayUntilDone(process, world.stderr);
  process.exitCode = await main(process.argv.slice(2), world);
  leave();
}

/** Runs the command in the arguments and returns the exit code. */
export async function main(argv: readonly string[], world: ProcessWorld): Promise<number> {
  let engine: ReturnType<ProcessWorld["openEngine"]> | undefined;
  const openEngine: ProcessWorld["openEngine"] = (...options) => (engine ??= world.openEngine(...options));
  try {
    return await dispatch(argv, { ...world, openEngine });
  } catch (error) {
    return report(error, world);
  } finally {
    await engine?.then(
      (opened) => {
        warnUnreadable(argv, opened.listUnreadable(), world);
        return opened.stop();
      },
      () => undefined, // it could not be opened, which was reported
    );
  }
}

async function dispatch(argv: readonly string[], world: ProcessWorld) {
  requireReadableArguments(argv);
  const { name, rest } = splitCommand(argv, GLOBAL_FLAGS);
  if (name === "help") {
    const topic = splitCommand(rest, GLOBAL_FLAGS);
    return topic.name === undefined || topic.name === "help" ? printHelp(world) : printTopic(topic.name, world);
  }
  if (name !== undefined) return runCommand(name, rest, world);
  if (rest.includes("--version")) return print(world, `${VERSION}\n`);
  if (rest.includes("--help") || rest.includes("-h")) return printHelp(world);
  return runCommand("status", rest, world);
}

async function runCommand(typed: string, argv: readonly string[], world: ProcessWorld) {
  const command = await loadCommand(typed);
  const args = parseFlags(argv, { ...command.flags, ...GLOBAL_FLAGS });
  if (args.flags.help) {
    const found = findCommand(typed);
    const { renderCommandHelp } = await import("./help.ts");
    const page = renderCommandHelp(found?.name ?? typed, found?.entry.about ?? "", command);
    return print(world, asTyped(page, world.program));
  }
  const { makeContext } = await import("./make-context.ts");
  const context = await makeContext(args.flags, world, { ...command, isLooking: command.isLooking?.(args) ?? false });
  if (context.json && !command.fields) throw new Refusal("bad_input", `askd ${typed} has no JSON output`);
  if (context.json?.show === "names") return print(world, `${(command.fields ?? []).join("\n")}\n`);
  // Before the command runs: an ask or answer could not be taken back.
  if (context.json?.show === "fields") (await import("./json.ts")).requireFields(context.json, command.fields ?? []);
  const { jq } = args.flags;
  const isLong = command.isLong?.(args) ?? false;
  if (jq === undefined && !context.isAccessible && !(isLong && context.stdout.isTty)) return command.run(args, context);
  const { runThrough } = await import("./output-filter.ts");
  return runThrough(context, { isLong, jq }, (through) => command.run(args, through));
}

async function loadCommand(typed: string) {
  const found = findCommand(typed);
  if (found && !found.entry.isLasting) interpretSchemas();
  if (found) return (await found.entry.load()).command;
  const meant = findNearest(typed, commandNames());
  throw new Refusal("bad_input", `There is no command "${oneLine(typed)}"`, {
    hint: meant ? `Did you mean: askd ${meant}` : "See all commands: askd --help",
  });
}

/** Prints a help topic, or the help of a command. */
async function printTopic(name: string, world: ProcessWorld) {
  if (findCommand(name)) return runCommand(name, ["--help"], world);
  const { TOPICS, renderTopic } = await import("./help-topic.ts");
  const text = await renderTopic(name);
  if (text !== undefined) return printLong(world, text);
  const known = [...Object.keys(TOPICS), ...commandNames()];
  const meant = findNearest(name, known);
  throw new Refusal("bad_input", `There is no help about "${oneLine(name)}"`, {
    hint: meant ? `Did you mean: askd help ${meant}` : "See all: askd --help",
  });
}

/** Compiling a schema costs more than a short command gains; zod reads this when it creates a schema. */
function interpretSchemas() {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
}

async function printHelp(world: ProcessWorld) {
  return printLong(world, (await import("./help.ts")).renderHelp());
}

/** Shows help in the pager if it does not fit on the screen. */
async function printLong(world: ProcessWorld, page: string) {
  const { stdin, stdout, env } = world;
  const text = asTyped(page, world.program);
  const isLong = stdout.isTty && stdin.isTty && stdout.rows !== undefined && text.split("\n").length > stdout.rows;
  const isShown =
    isLong && !env["ASKD_PROMPT_DISABLED"] && (await (await import("./terminal/pager.ts")).showInPager(text, world));
  return isShown ? 0 : print(world, text);
}

function print(world: ProcessWorld, text: string) {
  world.stdout.write(text);
  return 0;
}

/** Names the rows that were left out because they cannot be read; some commands report them themselves. */
function warnUnreadable(argv: readonly string[], rows: readonly string[], world: ProcessWorld) {
  const [first, ...more] = rows;
  const isReported = argv.length === 0 || argv.includes("status") || argv.includes("doctor");
  if (first === undefined || isReported) return;
  const rest = more.length > 0 ? ` and ${more.length} more` : "";
  const what = `${oneLine(first)}${rest} cannot be read and ${more.length > 0 ? "were" : "was"} left out`;
  world.stderr.write(`warning: ${what}. Set aside, with a copy: ${asTyped("askd doctor --fix", world.program)}\n`);
}

/** Prints the error and returns its exit code. */
function report(error: unknown, world: ProcessWorld) {
  if (error instanceof Interrupted) return EXIT_CODE.interrupted;
  const isRefusal = error instanceof Refusal;
  const message = error instanceof Error ? error.message : String(error);
  world.stderr.write(`error: ${oneLine(message)}\n`);
  if (isRefusal && error.hint) {
    const hint = sanitise(asTyped(error.hint, world.program));
    world.stderr.write(`  ${hint.replaceAll("\n", "\n  ")}\n`);
  }
  if (world.env["ASKD_DEBUG"] && error instanceof Error) world.stderr.write(`${sanitise(error.stack ?? "")}\n`);
  if (isRefusal) return error.exitCode;
  if (!world.env["ASKD_DEBUG"]) world.stderr.write("  For details set ASKD_DEBUG=1 and try again\n");
  return EXIT_CODE.error;
}
