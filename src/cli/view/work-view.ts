import { pluralize } from "../../core/text/plural.ts";
import type { ChangedFiles } from "../../agents/runner/local-run.ts";
import { oneLine, sanitise } from "./sanitise.ts";
import type { Style } from "../terminal/terminal.ts";

/** The counts in the last line of a diffstat. */
export interface ChangeCount {
  files: number;
  added: number;
  removed: number;
}

export function countChanged({ diff: stat }: ChangedFiles): ChangeCount {
  const counts = /(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*$/.exec(stat);
  return { files: Number(counts?.[1] ?? 0), added: Number(counts?.[2] ?? 0), removed: Number(counts?.[3] ?? 0) };
}

/** A diffstat in short: `4 files, +182 -9`; undefined without changes. */
export function sayWork(changed: ChangedFiles): string | undefined {
  const { files, added, removed } = countChanged(changed);
  const { length } = changed.untracked;
  const fresh = length > 0 ? `${length} new` : undefined;
  if (files === 0) return fresh && `${fresh} ${length === 1 ? "file" : "files"}`;
  const said = `${pluralize(files, "file")}, +${added} -${removed}`;
  return fresh ? `${said}, ${fresh}` : said;
}

/** The names of new files, above a patch: readers of patches skip text before the first file. */
export function listNew({ untracked }: ChangedFiles): string {
  const lines = untracked.length > 0 ? ["New files:", ...untracked.map((path) => `  ${oneLine(path)}`), ""] : [];
  return lines.map((line) => `${line}\n`).join("");
}

/** Colours a patch; its text is already sanitised. */
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

/** The patch for a page: the names of new files, then the changes. */
export function renderWork({ diff, untracked }: ChangedFiles, style: Style): string[] {
  const fresh = untracked.map((path) => `new file: ${sanitise(path).replaceAll("\n", "\\n")}`);
  const lines = diff === "" ? [] : colourDiff(sanitise(diff.replace(/\n$/, "")), style).split("\n");
  return [...fresh, ...lines];
}
