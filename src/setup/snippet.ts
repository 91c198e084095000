import type { Format } from "./client.ts";
import { editorFor } from "../edit/editor.ts";
import { applyToValue } from "../edit/change.ts";
import { type Wish, changesFor } from "./desired-config.ts";
import type { Json } from "../agents/json.ts";

/** What to put into a file by hand: a whole file that says only this. */
export function renderSnippet(format: Format, wishes: readonly Wish[]): string {
  const editor = editorFor(format);
  let text = "";
  let document: Json = {};
  for (const change of wishes.flatMap((wish) => changesFor(wish, {}))) {
    text = editor.apply(text, change);
    document = applyToValue(document, change);
  }
  return text.endsWith("\n") ? text : `${text}\n`;
}
