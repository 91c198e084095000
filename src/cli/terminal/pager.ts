import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { splitWords } from "./split-words.ts";

const USUAL = "less -FRX";
/** Programs that print and exit: their output would not stay on the screen. */
const PRINTERS = ["cat", "bat"];

/** The person's pager as a command line; undefined for `cat` or an empty value. */
export function findPager(env: Context["env"]): string[] | undefined {
  const chosen = env["ASKD_PAGER"] ?? env["PAGER"] ?? USUAL;
  const argv = chosen.trim().split(/\s+/).filter(Boolean);
  return argv.length === 0 || argv[0] === "cat" ? undefined : argv;
}

/** Shows a text in the pager; false if there is none that works. */
export async function showInPager(
  text: string,
  { env, runChild }: Pick<Context, "env" | "runChild">,
): Promise<boolean> {
  const argv = findPager(env);
  if (!argv) return false;
  try {
    await runChild({ argv, stdio: "inherit", input: text });
    return true;
  } catch {
    return false; // the pager does not exist: the caller prints the text
  }
}

/** Shows a text of any length in the pager until the person closes it; without a pager, prints it and waits for Enter. */
export async function showUntilClosed(text: string, context: Context): Promise<void> {
  const words = splitWords(context.env["ASKD_PAGER"] ?? context.env["PAGER"] ?? "less");
  const [program = ""] = words;
  const isShown = program !== "" && !PRINTERS.includes(program) && (await openPager(text, words, context));
  if (isShown) return;
  context.stdout.write(`${text.replace(/\n*$/, "\n")}\nPress Enter to go back.`);
  await context.stdin.readLine(context.interrupt());
}

async function openPager(text: string, words: readonly string[], { runChild, env }: Context) {
  const dir = await mkdtemp(join(tmpdir(), "askd-"));
  try {
    const file = join(dir, "page.txt");
    await writeFile(file, text, { mode: 0o600 });
    const own = { LESS: env["LESS"] ?? "R" };
    const ended = await runChild({ argv: [...words, file], env: own, stdio: "inherit" }).catch(() => undefined);
    return ended !== undefined; // an interrupt may end it, but it was shown
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
