import { makeVisible } from "../core/visible.ts";
import type { Run } from "../core/run.ts";
import type { Work } from "./card-view.ts";
import { type Reader, tell } from "./reader.ts";

const MOST_CHARS = 60_000;

/** What an agent has changed so far: which files first, then how. */
export function WorkSoFar({ reader, run, work }: { reader: Reader; run: Run; work: Work | undefined }) {
  const isEmpty = !work || (work.stat === "" && work.untracked.length === 0);
  return (
    <section id="work" class="work">
      <h2>{tell(reader, "work")}</h2>
      {isEmpty ? <p class="quiet">{tell(reader, "work.none")}</p> : null}
      {work && work.stat !== "" ? (
        <>
          <p class="quiet">{sumUp(reader, work.stat)}</p>
          <details>
            <summary>{tell(reader, "work.diff")}</summary>
            <pre class="stat" tabindex={0}>
              {makeVisible(work.stat.trimEnd())}
            </pre>
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

/** `4 files, +182 −9`, out of the last line that git says. */
function sumUp(reader: Reader, stat: string): string {
  const last = stat.trimEnd().split("\n").at(-1) ?? "";
  const count = (word: string): string => new RegExp(`(\\d+) ${word}`).exec(last)?.[1] ?? "0";
  return tell(reader, "work.sum", { files: count("file"), more: count("insertion"), less: count("deletion") });
}

function diffLines(diff: string) {
  const lines = makeVisible(diff.slice(0, MOST_CHARS)).split("\n");
  return lines.map((line) => <span class={classOf(line)}>{line === "" ? " " : line}</span>);
}

function classOf(line: string): string {
  if (/^(diff |index |--- |\+\+\+ |@@)/.test(line)) return "h";
  if (line.startsWith("+")) return "a";
  return line.startsWith("-") ? "d" : "";
}
