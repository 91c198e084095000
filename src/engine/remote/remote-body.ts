import type { AnswerInput } from "../../core/answer/answer-input.ts";
import type { RunBody } from "../../core/api/ask-body.ts";
import { MOST_LISTED } from "../../core/api/route.ts";
import type { RequestOf } from "../../core/api/table.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { RunInput } from "../engine.ts";

/** A run's description for the wire. */
export function runBody(input: RunInput): RunBody {
  const { id: _id, measured: _measured, externalId, parentId, giveBack, callback, ...run } = input;
  return {
    ...run,
    external_id: externalId,
    parent_id: parentId,
    give_back: giveBack,
    callback_url: callback?.url,
    callback_secret: callback?.secret,
  };
}

/** An answer for the wire, with the state of the question that it was meant for. */
export function answerBody({ undoMs, ifVersion, key: _key, ...input }: AnswerInput): {
  body: RequestOf<"answer">["body"];
  ifVersion: number | undefined;
} {
  return { body: { ...input, undo_window: undoMs / SECOND_MS }, ifVersion };
}

/** Reads as many pages as it takes to have that many rows. */
export async function pageThrough<Row>(
  limit: number,
  start: string | undefined,
  read: (page: { after?: string; limit: number }) => Promise<{ rows: Row[]; next?: string }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let after = start;
  while (rows.length < limit) {
    const page = await read({
      after,
      limit: Math.min(MOST_LISTED, limit - rows.length),
    });
    rows.push(...page.rows);
    after = page.next;
    if (after === undefined) break;
  }
  return rows;
}
