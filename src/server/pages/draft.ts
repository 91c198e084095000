import type { Context } from "hono";
import type { Once } from "../../core/once.ts";
import { type Draft, draftedText } from "../../web/draft.ts";

const MOST_FIELDS = 400;
const LONGEST_KEY = 255;

/** The name under which a form that is sent again counts once; forms that are sent without the script have none. */
export function onceIn(draft: Draft): Once {
  const key = draftedText(draft, "once").slice(0, LONGEST_KEY);
  return key === "" ? {} : { key };
}

/** The fields of a form that was sent; files are not taken. */
export async function readDraft(context: Context): Promise<Draft> {
  const body = await context.req.parseBody({ all: true });
  const fields = Object.entries(body).slice(0, MOST_FIELDS);
  return new Map(
    fields.map(([name, value]) => {
      const values = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
      // Forms end their lines as the internet does; people and agents do not.
      return [name, values.map((text) => text.replaceAll("\r\n", "\n"))] as const;
    }),
  );
}
