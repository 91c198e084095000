import type { Context } from "hono";
import type { IdempotentChange } from "../../../core/trail/idempotency.ts";
import { readFields } from "../../body.ts";
import { type FormDraft, draftText } from "../../../web/parts/form-draft.ts";

const MOST_FIELDS = 400;
const LONGEST_KEY = 255;

/** The idempotency key of a form; forms sent without the script have none. */
export function requestKey(draft: FormDraft): IdempotentChange {
  const key = draftText(draft, "once").slice(0, LONGEST_KEY);
  return key === "" ? {} : { key };
}

/** Reads the fields of a submitted form. */
export async function readDraft(context: Context, mostBytes?: number): Promise<FormDraft> {
  const fields = [...(await readFields(context, mostBytes))].slice(0, MOST_FIELDS);
  // Browsers submit CRLF line ends; agents expect LF.
  return new Map(fields.map(([name, values]) => [name, values.map((text) => text.replaceAll("\r\n", "\n"))]));
}
