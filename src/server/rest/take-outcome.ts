import type { ServerResponse } from "node:http";
import type { Verb } from "../../core/api/table.ts";
import type { Read } from "../../core/changes.ts";
import { isTakenByReading } from "../../core/run/taken-by-reading.ts";
import type { Work } from "../mcp/work.ts";
import { afterReply } from "../outgoing.ts";
import type { Call } from "./call.ts";
import type { Reader } from "./reply.ts";

/** Verbs whose reply shows one question with its outcome: the same ask again gets it as well. */
export const OUTCOME_VERBS: ReadonlySet<Verb> = new Set(["ask", "read", "wait"] as const);

/** Hears what is about to be replied. */
export type ReadingNote = (rows: unknown) => void;

/**
 * Writes down, once the reply is out, that the program which asked has read its outcome. An engine of ours on the other
 * side says by itself what it hands over.
 */
export function readingNote(
  { engine, by }: Call,
  { outgoing, reader, work }: { outgoing: ServerResponse | undefined; reader: Reader; work: Work },
): ReadingNote | undefined {
  if (reader.isRows) return undefined;
  return (rows) => {
    const read = rows as Read; // the table says that these verbs give one
    if (!isTakenByReading(read, by)) return;
    afterReply(outgoing, () =>
      work.afterwards(async () => {
        await engine.given(read.question.id, "read");
      }),
    );
  };
}
