import type { Redactor } from "../../core/secret/redact.ts";

const MOST_DEPTH = 64;

/** Redacts every text in a value. */
export function redactDeep(value: unknown, clean: Redactor, depth = 0): unknown {
  if (typeof value === "string") return clean(value);
  if (value === null || typeof value !== "object" || depth > MOST_DEPTH) return value;
  if (Array.isArray(value)) return value.map((each) => redactDeep(each, clean, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, redactDeep(each, clean, depth + 1)]));
}
