import type { ServerResponse } from "node:http";
import type { Verb } from "../../core/api/table.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { isTakenByReading } from "../../core/run/taken-by-reading.ts";
import { handOverOutcome } from "../../engine/hold-question.ts";
import type { BackgroundWork } from "../mcp/work.ts";
import { afterReply } from "../outgoing.ts";
import type { RestCall } from "./call.ts";
import type { ReplyFormat } from "./reply.ts";

/** Verbs whose reply shows one question with its outcome: the same ask again gets it as well. */
export const OUTCOME_VERBS: ReadonlySet<Verb> = new Set(["ask", "read", "wait"] as const);

/** Takes the rows that are about to be replied, and returns those to reply. */
export type OutcomeTaker = (rows: unknown) => Promise<unknown>;

/**
 * Hands the outcome over to the program that asked, by the reply to its own request: committed as on its way before the
 * reply, so that the reply shows exactly what is handed over, and as given once it is out. A remote engine hands over by
 * itself.
 */
export function outcomeTaker(
  { engine, by }: RestCall,
  { outgoing, reader, work }: { outgoing: ServerResponse | undefined; reader: ReplyFormat; work: BackgroundWork },
): OutcomeTaker | undefined {
  if (reader.isRows) return undefined;
  return async (rows) => {
    const read = rows as QuestionSnapshot; // these verbs return one, as the route table says
    if (!isTakenByReading(read, by)) return rows;
    const handed = await handOverOutcome(engine, read, { witness: "read", epoch: read.run.epoch });
    afterReply(outgoing, () =>
      work.afterwards(async () => {
        await handed.confirm?.();
      }),
    );
    return { ...read, ...handed.read };
  };
}
