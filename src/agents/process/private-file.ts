import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hasErrorCode } from "../../core/error-code.ts";

/** Creates a file for this user only, with its whole text at once; false if it exists. */
export async function createPrivateFile(file: string, text: string): Promise<boolean> {
  const draft = await writeDraft(file, text);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Replaces a file for this user only; readers see the whole old or the whole new text. */
export async function replacePrivateFile(file: string, text: string): Promise<void> {
  const draft = await writeDraft(file, text);
  try {
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Reads a file; undefined if there is none. */
export async function findFileText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function writeDraft(file: string, text: string): Promise<string> {
  const draft = `${file}.${process.pid}-${randomBytes(6).toString("hex")}.draft`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
