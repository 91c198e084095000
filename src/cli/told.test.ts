import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { COMMANDS, findCommand } from "./command.ts";
import type { Flags } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";
import { TOPICS } from "./help-topic.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The words after `askd` where a text names a command: a hint, an example, or a line of the docs. */
const TOLD = /(?:\baskd|\$\{(?:context\.|view\.)?program\}) ((?:[a-z][\w-]*|-[\w-]+(?=[ =`"']))[^\n`]*)/g;
/** How a hint says that a command is what comes: nothing else that stands after the name is one. */
const BEFORE = /(?:^|: |`|\$ |"|'|\(|, or |and |\| )$/;
/** The words after these end the command. */
const END = / -- | \| |; |, |\)|\\n|\$\{quoted|"\s*[,;)]|'\s*[,;)]|&&|   |>>|\. /;
/** Words of sentences about askd itself. */
const PROSE: readonly string[] = ["by", "cannot", "needs", "form", "keeps", "saw", "computes", "words", "itself"];

interface Told {
  at: string;
  name: string;
  flags: string[];
}

test("every command that is told to be typed exists, with its flags", async () => {
  const problems: string[] = [];
  const found = filesToRead().flatMap(readTold);
  expect(found.length).toBeGreaterThan(300);
  for (const { at, name, flags } of found) {
    const command = findCommand(name);
    if (!command) problems.push(`${at}: there is no askd ${name}`);
    const known: Flags | undefined = command && { ...(await command.entry.load()).command.flags, ...GLOBAL_FLAGS };
    if (!known) continue;
    for (const flag of flags) if (!hasFlag(known, flag)) problems.push(`${at}: askd ${name} has no ${flag}`);
  }
  expect(problems).toEqual([]);
});

function readTold(file: string): Told[] {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  return lines.flatMap((line, index) =>
    [...line.matchAll(TOLD)].flatMap((match) => {
      const before = line.slice(0, match.index).replace(/^\s*(?:\*|\/\/|-|\|)*\s*/, "");
      const [name = "", ...words] = (match[1] ?? "").split(END)[0]?.split(" ") ?? [];
      const isSentence = file.endsWith(".md") && isOutsideCode(line, match.index);
      const isTold = (BEFORE.test(before) && !isSentence) || Object.hasOwn(COMMANDS, name);
      if (!isTold || !/^[a-z][a-z-]*$/.test(name) || name === "help" || PROSE.includes(name)) return [];
      return [{ at: `${file}:${index + 1}`, name, flags: words.flatMap(flagOf) }];
    }),
  );
}

/** Says whether a place in a line of Markdown is prose: a sentence may begin with the name of the program. */
function isOutsideCode(line: string, index: number): boolean {
  return !line.startsWith("    ") && line.slice(0, index).split("`").length % 2 === 1;
}

/** The flag in a word; what is in quotes is somebody's text. */
function flagOf(word: string): string[] {
  const [, flag] = /^\[?(--[a-z][a-z-]*|-[a-zA-Z])(?:[=\]`"'.,:;|]|$)/.exec(word) ?? [];
  return flag === undefined ? [] : [flag];
}

function hasFlag(flags: Flags, flag: string): boolean {
  if (flag.startsWith("--")) return Object.hasOwn(flags, flag.slice(2));
  return Object.values(flags).some(({ short }) => short === flag.slice(1));
}

function filesToRead(): string[] {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
    ...sources.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts")).map((name) => `src/${name}`),
  ];
}

test("every topic of help that is told exists", () => {
  const told = filesToRead().flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/askd help ([a-z][a-z-]*)/g)].map((match) => match[1] ?? ""),
  );
  expect(told.length).toBeGreaterThan(0);
  expect(told.filter((topic) => !Object.hasOwn(TOPICS, topic) && !findCommand(topic))).toEqual([]);
});
