import type { DesiredConfig } from "../agents/wiring.ts";
import { type Format, editorFor } from "../edit/editor.ts";
import { changesFor } from "./desired-config.ts";

/** The text of a settings file with all of this in it. */
export function renderSettings(base: string, format: Format, wishes: readonly DesiredConfig[]): string {
  const editor = editorFor(format);
  let text = base;
  for (const wish of wishes) {
    for (const change of changesFor(wish, editor.parse(text))) text = editor.apply(text, change);
  }
  return text;
}

/** Renders the text to put into a file by hand: a whole file with these settings only. */
export function renderSnippet(format: Format, wishes: readonly DesiredConfig[]): string {
  const text = renderSettings("", format, wishes);
  return text.endsWith("\n") ? text : `${text}\n`;
}
