import { machineName } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "./page-reader.ts";

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
const OPEN = /<<(?:ASK_HUMAN|GZA_QUESTION)>>/;
const MARKED = /<<(ASK_HUMAN|GZA_QUESTION)>>([^]*?)<<\/\1>>/;
/** A marker must close within this many entries. */
const MOST_LINES = 60;

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
        <p class="quiet">{awayWords(reader, run)}</p>
      )}
    </section>
  );
}

/** Where a log is that cannot be shown here. */
function awayWords(reader: PageReader, run: Run) {
  if (run.implicit || run.host === "") return tell(reader, "log.foreign");
  return tell(reader, "log.away", { host: makeVisible(machineName(run.host)), run: run.number });
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
function entryWords(reader: PageReader, { kind, text }: LogEntry) {
  if (kind === "start") return tell(reader, "log.start", { n: text });
  if (kind === "ask") return tell(reader, "log.asks", { question: makeVisible(text) });
  if (kind !== "result" && kind !== "failure") return makeVisible(text);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = makeVisible(lines[0] ?? "");
  return lines.length > 1 ? `${first} (${tell(reader, "log.lines", { n: lines.length })})` : first;
}

/** Replaces questions that an agent printed between markers by their text. */
export function withMarkedQuestions(entries: readonly LogEntry[]): LogEntry[] {
  const shown: LogEntry[] = [];
  for (let at = 0; at < entries.length; at += 1) {
    const found = findMarked(entries, at);
    const entry = entries[at];
    if (found) {
      shown.push(...found.shown);
      at = found.last;
    } else if (entry) shown.push(entry);
  }
  return shown;
}

/** Finds the marked question that opens in an entry, and the entry that closes it. */
function findMarked(entries: readonly LogEntry[], at: number): { shown: LogEntry[]; last: number } | undefined {
  const first = entries[at];
  if (first?.kind !== "text" || !OPEN.test(first.text)) return undefined;
  let text = "";
  for (let last = at; last < Math.min(entries.length, at + MOST_LINES) && entries[last]?.kind === "text"; last += 1) {
    text += `${last === at ? "" : "\n"}${entries[last]?.text ?? ""}`;
    const marked = MARKED.exec(text);
    const question = parseQuestion(marked?.[2] ?? "");
    if (!marked || question === undefined) continue;
    const before = text.slice(0, marked.index).trim();
    const after = text.slice(marked.index + marked[0].length).trim();
    return {
      last,
      shown: [
        ...(before === "" ? [] : [{ ...first, text: before }]),
        { kind: "ask", text: question },
        ...(after === "" ? [] : [{ kind: "text" as const, text: after }]),
      ],
    };
  }
  return undefined;
}

function parseQuestion(text: string) {
  try {
    const given: unknown = JSON.parse(text);
    const asked = given !== null && typeof given === "object" && "question" in given ? given.question : undefined;
    return typeof asked === "string" && asked.trim() !== "" ? asked : undefined;
  } catch {
    return undefined; // invalid JSON was not taken as a question either
  }
}
