import { isCode } from "../agents/private-file.ts";
import { findDiff } from "../agents/working-tree.ts";
import { sanitise } from "./sanitise.ts";
import type { Style } from "./terminal.ts";

/** What an agent has changed so far, as git says it. */
export interface Work {
  diff: string;
  untracked: string[];
}

/** What differs from the last commit in a directory; undefined outside of a tree, or where it is gone. */
export async function findWork(dir: string, { isStat }: { isStat: boolean }): Promise<Work | undefined> {
  return findDiff(dir, { isStat }).catch((error: unknown) => {
    if (isCode(error, "ENOTDIR") || isCode(error, "ENOENT")) return undefined;
    throw error;
  });
}

/** The last line of a diffstat in short: `4 files, +182 -9`; nothing where nothing is changed. */
export function sayWork({ diff, untracked }: Work): string | undefined {
  const counts = /(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*$/.exec(diff);
  const files = Number(counts?.[1] ?? 0);
  const fresh = untracked.length > 0 ? `${untracked.length} new` : undefined;
  if (files === 0) return fresh && `${fresh} ${untracked.length === 1 ? "file" : "files"}`;
  const said = `${files} ${files === 1 ? "file" : "files"}, +${counts?.[2] ?? 0} -${counts?.[3] ?? 0}`;
  return fresh ? `${said}, ${fresh}` : said;
}

/** A patch with the colours that people know; its text is safe already. */
export function colourDiff(diff: string, style: Style): string {
  return diff
    .split("\n")
    .map((line) => {
      if (/^(diff |index |--- |\+\+\+ )/.test(line)) return style.bold(line);
      if (line.startsWith("@@")) return style.dim(line);
      if (line.startsWith("+")) return style.green(line);
      return line.startsWith("-") ? style.red(line) : line;
    })
    .join("\n");
}

/** The patch as it is shown beside other text: new files by their names, then what changed. */
export function renderWork({ diff, untracked }: Work, style: Style): string[] {
  const fresh = untracked.map((path) => `new file: ${sanitise(path).replaceAll("\n", "\\n")}`);
  const lines = diff === "" ? [] : colourDiff(sanitise(diff.replace(/\n$/, "")), style).split("\n");
  return [...fresh, ...lines];
}
