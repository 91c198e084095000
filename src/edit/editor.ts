import type { Change } from "./change.ts";
import { jsonEditor } from "./json-edit.ts";
import type { Table } from "./table.ts";
import { tomlEditor } from "./toml-edit.ts";
import { yamlEditor } from "./yaml-edit.ts";

export type Format = "json" | "toml" | "yaml";

/** Reads one format, and changes a text of it; every byte outside the change stays. */
export interface Editor {
  /** The content of the text, an empty table if it is empty; throws `Unfit` if it cannot be read or safely changed. */
  parse(text: string): Table;
  /** The text with one change made. */
  apply(text: string, change: Change): string;
}

const EDITORS: Readonly<Record<Format, Editor>> = { json: jsonEditor, toml: tomlEditor, yaml: yamlEditor };

export function editorFor(format: Format): Editor {
  return EDITORS[format];
}
