import type { AgentEvent } from "./agent.ts";
import { type Json, parseJson } from "./json.ts";

/** A longer line is not looked at; no agent writes one unless something is wrong. */
export const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** Reads one line that should hold a JSON object; whatever else it holds is left alone, with a warning where it looks broken. */
export function readJsonLine(line: string, read: (object: Json) => AgentEvent[]): AgentEvent[] {
  if (line.length > MAX_LINE_CHARS)
    return [{ kind: "warning", text: `A line of ${line.length} characters was skipped` }];
  const text = line.trim();
  if (text === "") return [];
  const object = parseJson(text);
  if (object) return read(object);
  if (!text.startsWith("{")) return []; // programs print words between their lines
  return [{ kind: "warning", text: `A line that begins like JSON cannot be read (${text.length} characters)` }];
}
