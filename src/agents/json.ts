import type { AgentEvent } from "./agent.ts";

/** An object that somebody else wrote; nothing is promised about its fields. */
export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that a text holds, if it holds one and nothing else. */
export function parseJson(text: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJson(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The value at this path, of any type. */
export function valueAt(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isJson(inner) ? inner[name] : undefined), value);
}

export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : undefined;
}

export function numberAt(value: unknown, ...path: string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** The objects in the list at this path; none when there is no list. */
export function listAt(value: unknown, ...path: string[]): Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.filter(isJson) : [];
}

/** The texts in the list at this path; undefined when there is no list. */
export function textsAt(value: unknown, ...path: string[]): string[] | undefined {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : undefined;
}

/** The words in a message's content: a text, or a list whose parts carry a text. */
export function wordsAt(value: unknown, ...path: string[]): string {
  return (
    textAt(value, ...path) ??
    listAt(value, ...path)
      .map((part) => textAt(part, "text") ?? "")
      .join("")
  );
}

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
