import type { Argv } from "../agents/wiring.ts";

const OWN = /^askd(?:@[\w.~^*-]+)?(?:\.cmd|\.exe|\.js|\.cjs)?$/i;
/** Programs that start others, their commands, and options: what may stand before our name. */
const RUNNER = /^(?:node|nodejs|npx|npm|bunx?|pnpm|pnpx|yarn|deno|env|cmd|exec|dlx|x|run|c)(?:\.exe|\.cmd)?$/i;

/** A command line that starts askd: how it does, and the words behind; nothing where it starts something else. */
export function splitLine(argv: Argv): { start: string[]; rest: string[] } | undefined {
  const at = argv.findIndex((word) => OWN.test(baseName(word)));
  const before = argv.slice(0, at);
  if (at < 0 || !before.every((word) => word.startsWith("-") || RUNNER.test(baseName(word)))) return undefined;
  const rest = argv.slice(at + 1);
  return { start: argv.slice(0, at + 1), rest: rest[0] === "--" ? rest.slice(1) : [...rest] };
}

/** The same for a line that a shell reads, as far as it is a hook of ours for that client. */
export function splitShellLine(line: string, client: string): { start: string; rest: string } | undefined {
  const found = /^(.*?askd(?:@[\w.~^*-]+)?(?:\.cmd|\.exe|\.js)?['"]?)\s+(hook\s+(\w+).*)$/is.exec(line);
  if (!found || found[3] !== client) return undefined;
  return { start: found[1] ?? "", rest: found[2] ?? "" };
}

/** The words of the start of such a line; quotes are taken off. */
export function shellWords(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
}

/** One line for a shell. */
export function quoteLine(argv: Argv): string {
  return argv.map(quote).join(" ");
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function baseName(word: string): string {
  return word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1);
}
