import type { LogEntry } from "./log.tsx";

const OPEN = /<<(?:ASK_HUMAN|GZA_QUESTION)>>/;
const MARKED = /<<(ASK_HUMAN|GZA_QUESTION)>>([^]*?)<<\/\1>>/;
/** A marker must close within this many entries. */
const MOST_LINES = 60;

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

function parseQuestion(text: string): string | undefined {
  try {
    const given: unknown = JSON.parse(text);
    const asked = given !== null && typeof given === "object" && "question" in given ? given.question : undefined;
    return typeof asked === "string" && asked.trim() !== "" ? asked : undefined;
  } catch {
    return undefined; // invalid JSON was not taken as a question either
  }
}
