import { type ParseArgsConfig, parseArgs } from "node:util";
import { findNearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";

/** One flag of a command, as help shows it and as it is parsed. */
export interface Flag {
  type: "boolean" | "string";
  short?: string;
  multiple?: true;
  /** The value is optional; the next argument is the value only if it matches. */
  optional?: RegExp;
  /** The name of the value in help. */
  value?: string;
  about: string;
}
export type Flags = Readonly<Record<string, Flag>>;

/** The values of flags, by their names: a list for those that can be repeated. */
export type Values<F extends Flags> = {
  [Name in keyof F]?: F[Name]["type"] extends "boolean"
    ? boolean
    : F[Name]["multiple"] extends true
      ? string[]
      : string;
};

/** The parsed arguments of a command. */
export interface Args<F extends Flags = Flags> {
  positionals: readonly string[];
  flags: Values<F>;
  /** `--` came before the first positional. */
  isAfterDashes: boolean;
}

/** Parses arguments by a table of flags; refuses unknown ones with a suggestion. */
export function parseFlags<F extends Flags>(argv: readonly string[], flags: F): Args<F> {
  const options = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)]));
  try {
    const { values, positionals, tokens } = parseArgs({
      args: withValues(argv, flags),
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const first = tokens.find(({ kind }) => kind === "positional" || kind === "option-terminator");
    // The library's type cannot follow a table that is built here; it parses by exactly these types.
    return { positionals, flags: values as Values<F>, isAfterDashes: first?.kind === "option-terminator" };
  } catch (error) {
    throw asRefusal(error, flags);
  }
}

/** The first argument that is not a flag or a flag's value, and the others. */
export function splitCommand(argv: readonly string[], flags: Flags): { name: string | undefined; rest: string[] } {
  const options = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)]));
  const args = withValues(argv, flags);
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const token = tokens.find(({ kind }) => kind === "positional");
  if (token?.kind !== "positional") return { name: undefined, rest: args };
  return { name: token.value, rest: args.filter((_, index) => index !== token.index) };
}

function optionOf(flag: Flag): NonNullable<ParseArgsConfig["options"]>[string] {
  return {
    type: flag.type,
    ...(flag.short && { short: flag.short }),
    ...(flag.multiple && { multiple: true }),
  };
}

/** Adds an empty value to flags without one, as the library knows no optional values. */
function withValues(argv: readonly string[], flags: Flags) {
  const result: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const arg = argv[index] ?? "";
    if (arg === "--") return [...result, ...argv.slice(index)];
    const optional = arg.startsWith("--") ? flags[arg.slice(2)]?.optional : undefined;
    if (!optional) {
      result.push(arg);
      continue;
    }
    const next = argv[index + 1];
    const takesNext = next !== undefined && optional.test(next);
    result.push(`${arg}=${takesNext ? next : ""}`);
    if (takesNext) index += 1;
  }
  return result;
}

function asRefusal(error: unknown, flags: Flags) {
  if (!(error instanceof Error) || !("code" in error) || !String(error.code).startsWith("ERR_PARSE_ARGS")) return error;
  const name = /'(?:-\w, )?-{1,2}([\w-]+)/.exec(error.message)?.[1] ?? "";
  if (error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const dashes = name.length === 1 ? "-" : "--";
    const meant = findNearest(name, Object.keys(flags));
    return new Refusal("bad_input", `There is no flag ${dashes}${name}`, {
      hint: meant ? `Did you mean --${meant}?` : "Text that starts with a dash goes after --",
    });
  }
  const flag = flags[name];
  return new Refusal(
    "bad_input",
    flag?.type === "string" ? `--${name} needs a value` : `--${name} takes no value`,
    flag?.type === "string" ? { hint: `Write --${name}=<${flag.value ?? "value"}>` } : {},
  );
}
