import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findText, replaceFile } from "../../../agents/process/private-file.ts";
import type { Context } from "../../context.ts";

type Around = Pick<Context, "place">;

/**
 * Where somebody's words are kept while they write them. The editor works on this very file, so that
 * they outlive the editor and this program.
 */
export function draftFile({ place }: Around, name: string): string {
  return join(place.stateDir, "drafts", `${name}.md`);
}

/** What was written before and never sent. */
export function findDraft(around: Around, name: string): Promise<string | undefined> {
  return findText(draftFile(around, name));
}

/** Keeps a text that only this user may read, and returns its file. */
export async function keepDraft(around: Around, name: string, text: string): Promise<string> {
  const file = draftFile(around, name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, text);
  return file;
}

/** It was sent, or nothing was written. */
export async function removeDraft(around: Around, name: string): Promise<void> {
  await rm(draftFile(around, name), { force: true });
}
