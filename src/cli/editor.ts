import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "./context.ts";

const VARIABLES = ["ASKD_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"] as const;

/** The editor that this person has chosen. */
export function findEditor(env: Context["env"]): string | undefined {
  return VARIABLES.map((name) => env[name]).find((value) => value);
}

/** Lets a person edit a text; undefined when the editor did not end well. */
export async function edit(
  text: string,
  editor: string,
  runChild: Context["runChild"],
  name = "answer.md",
): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "askd-"));
  const file = join(dir, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    // An editor is a shell command by convention: "code --wait".
    const { exitCode } = await runChild({ argv: ["sh", "-c", `${editor} "$1"`, "askd", file], stdio: "inherit" });
    return exitCode === 0 ? await readFile(file, "utf8") : undefined;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
