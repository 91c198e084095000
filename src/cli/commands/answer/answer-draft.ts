import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findFileText, replacePrivateFile } from "../../../agents/process/private-file.ts";
import type { Context } from "../../context.ts";

type Around = Pick<Context, "place">;

/**
 * The file of a draft. The editor works on this file, so that the text
 * survives a crash of the editor or of this program.
 */
export function draftFile({ place }: Around, name: string): string {
  return join(place.stateDir, "drafts", `${name}.md`);
}

/** A draft that was never sent. */
export function findDraft(around: Around, name: string): Promise<string | undefined> {
  return findFileText(draftFile(around, name));
}

/** Saves a draft that only this user can read, and returns its file. */
export async function keepDraft(around: Around, name: string, text: string): Promise<string> {
  const file = draftFile(around, name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replacePrivateFile(file, text);
  return file;
}

/** Deletes a draft that was sent or left empty. */
export async function removeDraft(around: Around, name: string): Promise<void> {
  await rm(draftFile(around, name), { force: true });
}
