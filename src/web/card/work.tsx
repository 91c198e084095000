import { makeVisible } from "../../core/text/visible.ts";
import type { Run } from "../../core/run/run.ts";
import type { WorkSummary } from "./card-view.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";

const MOST_CHARS = 60_000;
/** Shorter diffs are unfolded. */
const SHORT_CHARS = 4_000;

/** Changes of an agent: the files first, then the diff. */
export function WorkSoFar({ reader, run, work }: { reader: PageReader; run: Run; work: WorkSummary | undefined }) {
  const isEmpty = !work || (work.stat === "" && work.untracked.length === 0);
  const isLong = work !== undefined && work.diff.length > SHORT_CHARS;
  return (
    <section id="work" class="work">
      <h2>{tell(reader, "work")}</h2>
      {isEmpty ? <p class="quiet">{tell(reader, "work.none")}</p> : null}
      {work && work.stat !== "" ? (
        <>
          <p class="quiet">{sumUp(reader, work)}</p>
          <details open={!isLong}>
            <summary>{tell(reader, "work.diff")}</summary>
            {isLong ? (
              <pre class="stat" tabindex={0}>
                {makeVisible(work.stat.trimEnd())}
              </pre>
            ) : null}
            <pre class="diff" tabindex={0}>
              {diffLines(work.diff)}
            </pre>
            {work.diff.length > MOST_CHARS ? (
              <p class="quiet">{tell(reader, "work.cut", { run: run.number })}</p>
            ) : null}
          </details>
        </>
      ) : null}
      {work && work.untracked.length > 0 ? (
        <>
          <h3>{tell(reader, "work.new")}</h3>
          <pre class="stat" tabindex={0}>
            {work.untracked.slice(0, 100).map(makeVisible).join("\n")}
          </pre>
        </>
      ) : null}
    </section>
  );
}

/** `4 files, +182 −9`, from the last line of `git diff --stat`, plus untracked files, which git does not count. */
function sumUp(reader: PageReader, { stat, untracked }: WorkSummary) {
  const last = stat.trimEnd().split("\n").at(-1) ?? "";
  const count = (word: string) => new RegExp(`(\\d+) ${word}`).exec(last)?.[1] ?? "0";
  const files = Number(count("file")) + untracked.length;
  const key = files === 1 ? "work.sum.one" : "work.sum";
  return tell(reader, key, { files, more: count("insertion"), less: count("deletion") });
}

/** The lines of a diff; the header lines of each file are reduced to its name. */
function diffLines(diff: string) {
  const lines = makeVisible(diff.slice(0, MOST_CHARS)).trimEnd().split("\n");
  let isHead = false;
  return lines.map((line) => {
    const file = /^diff --git a\/(.*) b\/\1$/.exec(line)?.[1];
    if (line.startsWith("diff ")) isHead = true;
    if (line.startsWith("@@")) isHead = false;
    if (isHead && /^(index|---|\+\+\+) /.test(line)) return null;
    return <span class={isHead ? (file === undefined ? "h" : "f") : classOf(line)}>{(file ?? line) || " "}</span>;
  });
}

function classOf(line: string) {
  if (line.startsWith("@@")) return "h";
  if (line.startsWith("+")) return "a";
  return line.startsWith("-") ? "d" : "";
}
