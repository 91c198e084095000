import type { Command } from "./command.ts";
import { GROUPS } from "./command.ts";
import type { Flag, Flags } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";

/** The names of the help topics; their pages are loaded on use. */
export const TOPIC_NAMES = ["answering", "asking", "exit-codes", "environment", "json", "ids", "timeouts", "agents"];

const SETTINGS: ReadonlyArray<readonly [name: string, about: string]> = [
  ["ASKD_HOME", "Keep config, data and state below this folder"],
  ["ASKD_URL", "Use the server at this address, with the token in ASKD_TOKEN"],
  ["ASKD_PROFILE", "Use this profile from the settings"],
  ["ASKD_CONFIG_DIR", "Look for your config.toml in this folder"],
  ["ASKD_STORE", "Keep questions in sqlite:<path> or postgres://…"],
  ["ASKD_DEBUG", "Print the stack of unexpected errors; =api prints every call to a server"],
];

/** The output of `askd --help`. */
export function renderHelp(): string {
  const groups = GROUPS.map(([title, commands]) => ({
    title,
    rows: Object.entries(commands).map(([name, { about, aliases }]): [string, string] => [
      name,
      aliases ? `${about} (or: ${aliases.join(", ")})` : about,
    ]),
  }));
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(([name]) => name.length)));
  return [
    "askd: an agent asks, a person answers, the run resumes",
    "",
    "Usage: askd [command] [flags]",
    "",
    ...groups.flatMap(({ title, rows }) => table(title, rows, width)),
    ...table("Flags", flagRows(GLOBAL_FLAGS)),
    ...table("Environment", SETTINGS),
    "Without a command: askd status. More: askd help <command>, or one of these topics:",
    `  ${TOPIC_NAMES.join(", ")}`,
    "",
  ].join("\n");
}

/** The output of `askd help <command>`. */
export function renderCommandHelp(name: string, about: string, command: Command): string {
  return [
    about,
    "",
    `Usage: askd ${command.usage}`,
    "",
    ...(Object.keys(command.flags).length > 0 ? table("Flags", flagRows(command.flags)) : []),
    ...(command.examples ? ["Examples", ...command.examples.map((example) => `  ${example}`), ""] : []),
    `Flags of all commands: askd --help${command.fields ? `. Fields of --json: askd ${name} --json=?` : ""}`,
    "",
  ].join("\n");
}

function flagRows(flags: Flags): Array<[string, string]> {
  return Object.entries(flags).map(([name, flag]) => [sayFlag(name, flag), flag.about]);
}

function sayFlag(name: string, flag: Flag): string {
  const short = flag.short ? `-${flag.short}, ` : "    ";
  if (flag.type === "boolean") return `${short}--${name}`;
  const value = flag.value ?? "value";
  if (!flag.optional) return `${short}--${name} <${value}>`;
  return flag.optional.test("") ? `${short}--${name}[=${value}]` : `${short}--${name} [${value}]`;
}

function table(title: string, rows: ReadonlyArray<readonly [string, string]>, least = 0): string[] {
  const width = Math.max(least, ...rows.map(([left]) => left.length));
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`), ""];
}
