import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { splitWords } from "./split-words.ts";

/** Programs that print and are gone: what they printed would not stay to be read. */
const PRINTERS = ["cat", "bat"];

/** Shows a text in the pager of this person until they leave it, however short it is; where there is none, it is printed and waits for Enter. */
export async function showPage(text: string, context: Context): Promise<void> {
  const words = splitWords(context.env["ASKD_PAGER"] ?? context.env["PAGER"] ?? "less");
  const [program = ""] = words;
  const isShown = program !== "" && !PRINTERS.includes(program) && (await page(text, words, context));
  if (isShown) return;
  context.stdout.write(`${text.replace(/\n*$/, "\n")}\nPress Enter to go back.`);
  await context.stdin.readLine(context.interrupt());
}

async function page(text: string, words: readonly string[], { runChild, env }: Context): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), "askd-"));
  try {
    const file = join(dir, "page.txt");
    await writeFile(file, text, { mode: 0o600 });
    const own = { LESS: env["LESS"] ?? "R" };
    const ended = await runChild({ argv: [...words, file], env: own, stdio: "inherit" }).catch(() => undefined);
    return ended !== undefined; // it may be left by an interrupt, but it was there
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
