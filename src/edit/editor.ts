import type { Json } from "../agents/json.ts";
import type { Format } from "../setup/client.ts";
import { jsonEditor } from "./json-edit.ts";
import { tomlEditor } from "../setup/toml-edit.ts";
import type { Change } from "../setup/desired-config.ts";
import { yamlEditor } from "./yaml-edit.ts";

/** Reads one format, and changes a text of it without touching anything that it was not told to. */
export interface Editor {
  /** What the text says; throws `Unfit` where it cannot be read, or not safely be changed. An empty one says nothing. */
  parse(text: string): Json;
  /** The text with one change made. */
  apply(text: string, change: Change): string;
}

const EDITORS: Readonly<Record<Format, Editor>> = { json: jsonEditor, toml: tomlEditor, yaml: yamlEditor };

export function editorFor(format: Format): Editor {
  return EDITORS[format];
}
