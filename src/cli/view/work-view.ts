import { sayMany } from "../../core/text/plural.ts";
import type { Changed } from "../../agents/runner/local-run.ts";
import { oneLine, sanitise } from "./sanitise.ts";
import type { Style } from "../terminal/terminal.ts";

/** How much is changed, by the last line of a diffstat. */
export interface ChangeCount {
  files: number;
  added: number;
  removed: number;
}

export function countChanged({ diff: stat }: Changed): ChangeCount {
  const counts = /(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*$/.exec(stat);
  return { files: Number(counts?.[1] ?? 0), added: Number(counts?.[2] ?? 0), removed: Number(counts?.[3] ?? 0) };
}

/** A diffstat in short: `4 files, +182 -9`; nothing where nothing is changed. */
export function sayWork(changed: Changed): string | undefined {
  const { files, added, removed } = countChanged(changed);
  const { length } = changed.untracked;
  const fresh = length > 0 ? `${length} new` : undefined;
  if (files === 0) return fresh && `${fresh} ${length === 1 ? "file" : "files"}`;
  const said = `${sayMany(files, "file")}, +${added} -${removed}`;
  return fresh ? `${said}, ${fresh}` : said;
}

/** The names of new files, above a patch: what stands before the first file is passed over by whatever reads it. */
export function listNew({ untracked }: Changed): string {
  const lines = untracked.length > 0 ? ["New files:", ...untracked.map((path) => `  ${oneLine(path)}`), ""] : [];
  return lines.map((line) => `${line}\n`).join("");
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
export function renderWork({ diff, untracked }: Changed, style: Style): string[] {
  const fresh = untracked.map((path) => `new file: ${sanitise(path).replaceAll("\n", "\\n")}`);
  const lines = diff === "" ? [] : colourDiff(sanitise(diff.replace(/\n$/, "")), style).split("\n");
  return [...fresh, ...lines];
}
