import { readFile, stat } from "node:fs/promises";

/** The text of a file before an agent changes it; undefined if there is none, or it is long or not text. */
export async function findEditedText(path: string, mostChars: number): Promise<string | undefined> {
  try {
    const file = await stat(path);
    if (!file.isFile() || file.size > mostChars) return undefined;
    const text = await readFile(path, "utf8");
    return text.includes("\0") || text.includes("\ufffd") ? undefined : text;
  } catch {
    return undefined; // the diff then has no line numbers; whether the tool can edit it is for the tool to say
  }
}
