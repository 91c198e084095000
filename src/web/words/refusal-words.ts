import type { Refusal } from "../../core/refusal.ts";
import { RunStatus } from "../../core/run/run.ts";
import { type Speaker, sayRefusal, sayTrailMismatch } from "../../core/text/refusal-sentence.ts";
import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";

type Reader = Pick<PageReader, "language">;

/** A refusal in the reader's language: what is the case and what to do next. */
export function refusalWords(reader: Reader, refusal: Refusal): string {
  return sayRefusal(speakerOf(reader), refusal);
}

/** A mismatch of the audit trail in the reader's language. */
export function flawWords(reader: Reader, flaw: TrailMismatch): string {
  return sayTrailMismatch(speakerOf(reader), flaw);
}

function speakerOf(reader: Reader): Speaker {
  const { language } = reader;
  return { language, span: (ms) => tellSpan(reader, ms, 2), status: (name) => statusWords(reader, name) };
}

/** The state of a run or a question. */
function statusWords(reader: Reader, text: string): string {
  const run = RunStatus.safeParse(text);
  if (run.success) return tell(reader, `state.${run.data}`);
  return text === "pending" || text === "answered" || text === "timeout" ? tell(reader, `status.${text}`) : text;
}
