import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isCode } from "../../core/error-code.ts";

/** Makes a file that only this user may read, with its whole text at once; false if one is there. */
export async function createFile(file: string, text: string): Promise<boolean> {
  const draft = await writeDraft(file, text);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Writes a file that only this user may read; readers see the old or the new text, whole. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = await writeDraft(file, text);
  try {
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The text of a file, or undefined when there is none. */
export async function findText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
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
