import { machineName } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { withMarkedQuestions } from "./marked-question.ts";
import { type PageReader, tell } from "./reader.ts";

/** One line of an agent's log. */
export interface LogEntry {
  kind: "text" | "call" | "result" | "warning" | "failure" | "start" | "ask";
  text: string;
  /** Continues the text of the previous entry. */
  isJoined?: boolean;
}

/** A part of a log, and the position of the next part. */
export interface LogPart {
  entries: readonly LogEntry[];
  next: string;
  /** Earlier entries are left out. */
  isCut: boolean;
}

/** The log of an agent; the script appends new lines. */
export function LogBox({ reader, run, log }: { reader: PageReader; run: Run; log: LogPart | undefined }) {
  return (
    <section class="log-box">
      <h2 id="log-title">{tell(reader, "log")}</h2>
      {log ? (
        <>
          {log.isCut ? <p class="quiet">{tell(reader, "log.cut", { run: run.number })}</p> : null}
          <p class="quiet log-none">{log.entries.length === 0 ? tell(reader, "log.none") : null}</p>
          <LogLines reader={reader} run={run} log={log} />
        </>
      ) : (
        <p class="quiet">{tell(reader, "log.away", { host: makeVisible(machineName(run.host)), run: run.number })}</p>
      )}
    </section>
  );
}

/** The lines of a log, and the position to continue from. */
export function LogLines({ reader, run, log }: { reader: PageReader; run: Run; log: LogPart }) {
  return (
    <div
      id="log"
      class="log mono"
      role="log"
      aria-live="off"
      aria-labelledby="log-title"
      tabindex={0}
      data-src={`/r/${run.id}/log`}
      data-next={log.next}
    >
      {withMarkedQuestions(log.entries).map((entry) => (
        <div class={`e-${entry.kind}`} data-joined={entry.isJoined ? "yes" : undefined}>
          {entryWords(reader, entry)}
        </div>
      ))}
    </div>
  );
}

/** Results are long, so only their first line is shown. */
function entryWords(reader: PageReader, { kind, text }: LogEntry): string {
  if (kind === "start") return tell(reader, "log.start", { n: text });
  if (kind === "ask") return tell(reader, "log.asks", { question: makeVisible(text) });
  if (kind !== "result" && kind !== "failure") return makeVisible(text);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = makeVisible(lines[0] ?? "");
  return lines.length > 1 ? `${first} (${tell(reader, "log.lines", { n: lines.length })})` : first;
}
