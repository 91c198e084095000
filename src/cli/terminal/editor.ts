import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { splitWords } from "./split-words.ts";

const VARIABLES = ["ASKD_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"] as const;

/** The person's editor as a command line: `code --wait`. */
export function findEditor(env: Context["env"]): string[] | undefined {
  const chosen = VARIABLES.map((name) => env[name]).find((value) => value?.trim());
  return chosen === undefined ? undefined : splitWords(chosen);
}

/** Lets a person edit a text; undefined if the editor fails. */
export async function edit(
  text: string,
  editor: readonly string[],
  runChild: Context["runChild"],
  name: string,
): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "askd-"));
  const file = join(dir, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    return (await editFile(file, editor, { runChild })) ? await readFile(file, "utf8") : undefined;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Lets a person edit a file; returns whether the editor succeeded. */
export async function editFile(
  file: string,
  editor: readonly string[],
  { runChild }: Pick<Context, "runChild">,
): Promise<boolean> {
  const ended = await runChild({ argv: [...editor, file], stdio: "inherit" }).catch(() => undefined); // it is not there
  return ended?.exitCode === 0;
}
