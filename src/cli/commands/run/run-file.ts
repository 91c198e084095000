import { readFile, stat } from "node:fs/promises";
import { platform } from "node:os";
import { Refusal } from "../../../core/refusal.ts";

const OTHERS = 0o077;

/** Reads a file that replaces the environment: lines of `ASKD_RUN=r_…` and `ASKD_TOKEN=…`. */
export async function readRunFile(path: string): Promise<Record<string, string>> {
  const mode = await stat(path).catch((cause: unknown) => {
    throw new Refusal("bad_input", "The --run-file cannot be read", { cause });
  });
  if (platform() !== "win32" && (mode.mode & OTHERS) !== 0) {
    throw new Refusal("bad_input", "The --run-file can be read by others", {
      hint: "Protect it with: chmod 600",
    });
  }
  const lines = (await readFile(path, "utf8")).split("\n");
  return Object.fromEntries(
    lines.flatMap((line): Array<[string, string]> => {
      const [, name, value] = /^\s*(ASKD_\w+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
      return name !== undefined && value !== undefined ? [[name, value]] : [];
    }),
  );
}
