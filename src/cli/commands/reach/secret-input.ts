import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Context } from "../../context.ts";
import { Interrupted } from "../../terminal/interrupted.ts";

const TOKEN_CHARS = 4096;

/** Reads a secret from the terminal or from stdin, never from the command line, where others could read it. */
export async function readSecretLine(context: Context): Promise<string> {
  if (!context.stdin.isTty) return (await context.stdin.readAll(TOKEN_CHARS)).trim();
  return readTypedLine(context, "hidden");
}

/** Reads a line from the terminal; empty at the end of input. */
export async function readTypedLine({ stdin, interrupt }: Context, echo?: "hidden"): Promise<string> {
  const signal = interrupt();
  const typed = await stdin.readLine(signal, echo);
  if (signal.aborted) throw new Interrupted();
  return typed?.trim() ?? "";
}

/** Keeps a secret in a file beside the settings that only its user can read; returns the file. */
export async function keepSecret(name: string, secret: string, { place }: Context) {
  const file = join(dirname(place.configFile), name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const { replacePrivateFile } = await import("../../../agents/process/private-file.ts");
  await replacePrivateFile(file, `${secret}\n`);
  return file;
}

export function say(context: Context, text: string) {
  if (!context.isQuiet) context.stderr.write(`${text}\n`);
}
