import { Refusal } from "../../core/refusal.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../view/sanitise.ts";

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: "is a folder",
  EACCES: "cannot be read: permission denied",
};

/** The text of a file named in an argument. */
export async function readFileArg(file: string, context: Pick<Context, "readFile">): Promise<string> {
  try {
    return await context.readFile(file);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new Refusal("not_found", `There is no file ${oneLine(file)}`, {
        hint: "Name a file, or - for stdin",
        cause,
      });
    }
    const reason = REASONS[code];
    if (reason === undefined) throw cause;
    throw new Refusal("bad_input", `${oneLine(file)} ${reason}`, { hint: "Name a file, or - for stdin", cause });
  }
}
