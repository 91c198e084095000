import type { Context } from "hono";
import type { Draft } from "../../web/draft.ts";

const MOST_FIELDS = 400;

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
