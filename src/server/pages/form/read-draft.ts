import type { Context } from "hono";
import type { Once } from "../../../core/trail/idempotency.ts";
import { readFields } from "../../body.ts";
import { type Draft, draftedText } from "../../../web/parts/form-draft.ts";

const MOST_FIELDS = 400;
const LONGEST_KEY = 255;

/** The name under which a form that is sent again counts once; forms that are sent without the script have none. */
export function onceIn(draft: Draft): Once {
  const key = draftedText(draft, "once").slice(0, LONGEST_KEY);
  return key === "" ? {} : { key };
}

/** The fields of a form that was sent. */
export async function readDraft(context: Context, mostBytes?: number): Promise<Draft> {
  const fields = [...(await readFields(context, mostBytes))].slice(0, MOST_FIELDS);
  // Forms end their lines as the internet does; people and agents do not.
  return new Map(fields.map(([name, values]) => [name, values.map((text) => text.replaceAll("\r\n", "\n"))]));
}
