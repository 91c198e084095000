import { type Context } from "../../context.ts";
import { type Command, findCommand, shownCommands } from "../../command.ts";
import { type Flag, type Flags, splitCommand } from "../../flags.ts";
import { GLOBAL_FLAGS } from "../../global-flags.ts";
import { TOPIC_NAMES } from "../../help.ts";
import { oneLine } from "../../view/sanitise.ts";
import { cutCells } from "../../terminal/terminal.ts";

const LONGEST_MS = 1_500;
const MOST_ABOUT = 60;
/** Tells the shell to complete names of files. */
export const FILES = ":files";

/** A completion with its description. */
export type Candidate = readonly [value: string, about: string];

const flags = {};

/** Completes a command line: takes the words so far, prints lines of value and description. Never fails, never writes. */
export const command: Command<typeof flags> = {
  usage: "complete -- [<word>…]",
  isLooking: () => true,
  flags,
  async run(args, context) {
    const giveUp = context.pause(LONGEST_MS).then(() => []);
    const found = await Promise.race([complete(args.positionals, context), giveUp]).catch(() => []);
    context.stdout.write(found.map(renderCandidate).join(""));
    return 0;
  },
};

/** The completions of the last word. */
async function complete(typed: readonly string[], context: Context): Promise<Candidate[]> {
  const { words, isSplit } = joinValues(typed);
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  if (before.includes("--")) return [[FILES, ""]];
  const { name, rest } = splitCommand(before, GLOBAL_FLAGS);
  if (name === undefined) return matching(current, current.startsWith("-") ? flagNames(GLOBAL_FLAGS) : commandNames());
  if (name === "help")
    return matching(current, [...commandNames(), ...TOPIC_NAMES.map((topic): Candidate => [topic, "Topic"])]);
  const found = findCommand(name);
  if (!found) return [];
  const meant = (await found.entry.load()).command;
  const at = { command: meant, known: { ...meant.flags, ...GLOBAL_FLAGS }, rest, context };
  const [, flag, prefix] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) {
    const values = await valuesFor(flagOf(flag, at.known), prefix ?? "", at);
    return values.map(([value, about]): Candidate => [isSplit || value === FILES ? value : `${flag}=${value}`, about]);
  }
  const last = flagOf(rest.at(-1) ?? "", at.known);
  if (last?.type === "string" && !last.optional) return valuesFor(last, current, at);
  if (current.startsWith("-")) return matching(current, flagNames(at.known));
  return positionals(found.name, current, at);
}

interface CompletionContext {
  command: Command;
  known: Flags;
  /** The words after the name of the command. */
  rest: readonly string[];
  context: Context;
}

async function valuesFor(flag: Flag | undefined, prefix: string, at: CompletionContext): Promise<Candidate[]> {
  if (!flag || flag.type !== "string") return [];
  if (flag.value === "file" || flag.value === "dir") return [[FILES, ""]];
  if (flag.value === "fields") return fieldsFor(at.command, prefix);
  const { STATIC, agentNames, liveValues } = await import("./complete-value.ts");
  const known = Object.hasOwn(STATIC, flag.value ?? "") ? STATIC[flag.value ?? ""] : undefined;
  if (known)
    return matching(
      prefix,
      known.map((value): Candidate => [value, ""]),
    );
  if (flag.value === "agent") return matching(prefix, await agentNames(at.context));
  return matching(prefix, await liveValues(flag.value ?? "", typedWords(at), at.context));
}

/** Completes the last name in `--json=id,ti`. */
function fieldsFor({ fields = [] }: Command, prefix: string): Candidate[] {
  const comma = prefix.lastIndexOf(",") + 1;
  const taken = prefix.slice(0, comma);
  return matching(
    prefix,
    fields.map((field): Candidate => [`${taken}${field}`, ""]),
  );
}

/** Completes a positional argument by the usage: a fixed word, or a value of a named kind. */
async function positionals(name: string, current: string, at: CompletionContext): Promise<Candidate[]> {
  const words = typedWords(at);
  const places = at.command.usage
    .split(" ")
    .slice(1)
    .filter((place) => !/^\[?-/.test(place));
  const place = places[words.length] ?? "";
  const verbs = /^<?[a-z]+(\|[a-z]+)+>?$/.test(place) ? place.replace(/[<>]/g, "").split("|") : undefined;
  if (verbs)
    return matching(
      current,
      verbs.map((verb): Candidate => [verb, ""]),
    );
  const kind = KINDS[`${name} ${place}`] ?? KINDS[place];
  if (kind === undefined) return [];
  const { liveValues } = await import("./complete-value.ts");
  return matching(current, await liveValues(kind, words, at.context));
}

/** The kinds of values that names in a usage stand for. */
const KINDS: Readonly<Record<string, string>> = {
  "<id>": "question",
  "<run>": "run",
  "[<run>]": "run",
  "answer [answer]": "option",
  "cancel <id>": "pending",
  "answer <id>": "pending",
  "template [<name>]": "template",
};

/** The words that are neither flags nor their values. */
function typedWords({ rest, known }: CompletionContext) {
  const words: string[] = [];
  for (const [index, word] of rest.entries()) {
    const before = flagOf(rest[index - 1] ?? "", known);
    const isValue = before?.type === "string" && !before.optional;
    if (!word.startsWith("-") && !isValue) words.push(word);
  }
  return words;
}

/** bash splits `--state=pen` into three words. */
function joinValues(typed: readonly string[]) {
  const words: string[] = [];
  let isSplit = false;
  for (const word of typed) {
    const flag = words.at(-1) ?? "";
    const joins: boolean = word === "=" ? /^--[\w-]+$/.test(flag) : isSplit && /^--[\w-]+=$/.test(flag);
    if (joins) words[words.length - 1] = flag + word;
    else words.push(word);
    isSplit = joins;
  }
  return { words, isSplit };
}

function flagOf(word: string, known: Flags) {
  if (word.startsWith("--")) return Object.hasOwn(known, word.slice(2)) ? known[word.slice(2)] : undefined;
  const letter = /^-(\w)$/.exec(word)?.[1];
  return letter === undefined ? undefined : Object.values(known).find(({ short }) => short === letter);
}

function flagNames(known: Flags): Candidate[] {
  return Object.entries(known).map(([name, { about }]): Candidate => [`--${name}`, about]);
}

function commandNames(): Candidate[] {
  return [
    ...shownCommands().map(([name, { about }]): Candidate => [name, about]),
    ["help", "Explain a command or a topic"],
  ];
}

function matching(prefix: string, all: readonly Candidate[]): Candidate[] {
  return all.filter(([value]) => value.startsWith(prefix));
}

/** A completion as one line, without characters that end the line or the value. */
function renderCandidate([value, about]: Candidate) {
  return `${value}\t${cutCells(oneLine(about), MOST_ABOUT)}\n`;
}
