import { machineName } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { withQuestions } from "./marked-question.ts";
import { type Reader, tell } from "./reader.ts";

/** One thing that an agent did or said. */
export interface LogEntry {
  kind: "text" | "call" | "result" | "warning" | "failure" | "start" | "ask";
  text: string;
  /** It goes on with the words of the entry before it. */
  isJoined?: boolean;
}

/** A part of a log, and where the next one begins. */
export interface LogPart {
  entries: readonly LogEntry[];
  next: string;
  /** There is more before it. */
  isCut: boolean;
}

/** What an agent does, as it does it; the script adds to it what comes. */
export function LogBox({ reader, run, log }: { reader: Reader; run: Run; log: LogPart | undefined }) {
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

/** The lines of a log, with where to go on. */
export function LogLines({ reader, run, log }: { reader: Reader; run: Run; log: LogPart }) {
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
      {withQuestions(log.entries).map((entry) => (
        <div class={`e-${entry.kind}`} data-joined={entry.isJoined ? "yes" : undefined}>
          {entryWords(reader, entry)}
        </div>
      ))}
    </div>
  );
}

/** Results are long, so their first line stands for them. */
function entryWords(reader: Reader, { kind, text }: LogEntry): string {
  if (kind === "start") return tell(reader, "log.start", { n: text });
  if (kind === "ask") return tell(reader, "log.asks", { question: makeVisible(text) });
  if (kind !== "result" && kind !== "failure") return makeVisible(text);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = makeVisible(lines[0] ?? "");
  return lines.length > 1 ? `${first} (${tell(reader, "log.lines", { n: lines.length })})` : first;
}
