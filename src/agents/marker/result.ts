import { z } from "zod";
import type { RunResult } from "../../core/run/run-lifecycle.ts";
import { type Json, isJson, parseJson } from "../json.ts";
import { withoutEscapes } from "./escape-sequence.ts";
import { parseRepaired } from "./marker-body.ts";

/** Longer last words are looked through from here on; a result stands at their end. */
const MAX_CHARS = 4 * 1024 * 1024;
/** The longest structured output that is kept. */
const MAX_OUTPUT_CHARS = 64 * 1024;
/** Closing braces that belong to nothing cost a search each, so there is an end to them. */
const MAX_LOOSE = 16;
const NEEDS_INPUT = /"status\\?"\s*:\s*\\?"needs_input\\?"/;

/** Text that is no text, or a list of something else, is left out and spoils nothing. */
const Words = z.string().optional().catch(undefined);
const Result = z.looseObject({
  status: z.enum(["completed", "failed", "blocked", "needs_input"]),
  summary: Words,
  details: Words,
  question: Words,
  issues: z.array(z.string()).optional().catch(undefined),
  output: z.unknown().optional(),
});

/** An agent's own report: how it ended, and what it asks, in a shape that `parseAsk` takes. */
export interface ReportedResult {
  result: RunResult;
  ask?: Json;
  /** It needs input and does not say which. */
  warning?: string;
}

/** Reads the result that an agent ended with: a structured one, or the last JSON object of its last words. */
export function readResult(last: { text: string; structured?: unknown }): ReportedResult | undefined {
  const found = isJson(last.structured) ? last.structured : findLastObject(withoutEscapes(last.text));
  const parsed = Result.safeParse(found);
  if (!parsed.success) return undefined;
  const { status, summary, details, issues, question, output, ...rest } = parsed.data;
  const isShort = output !== undefined && JSON.stringify(output).length <= MAX_OUTPUT_CHARS;
  const told = {
    ...(summary && { summary }),
    ...(details && { details }),
    ...(issues && { issues }),
    ...(isShort && { output }),
  };
  if (status !== "needs_input") return { result: { status, ...told } };
  const asked = [question, summary].find((text) => text?.trim());
  // It did what it could: the run is parked by its question, not by this status.
  const result: RunResult = { status: "completed", ...told };
  if (!asked) return { result, warning: 'The result needs input and holds no "question"; no question was asked' };
  return { result, ask: { ...rest, question: asked, ...(details && { details }) } };
}

/** Says whether words hold a result that needs input, wherever it stands and however broken it is. */
export function mentionsNeedsInput(text: string): boolean {
  return NEEDS_INPUT.test(withoutEscapes(text));
}

/** The last whole JSON object of a text, bare or fenced, with or without words around it. */
export function findLastObject(text: string): Json | undefined {
  const from = Math.max(0, text.length - MAX_CHARS);
  let end = text.lastIndexOf("}");
  for (let loose = 0; end >= from && loose < MAX_LOOSE;) {
    const start = findStart(text, from, end);
    const object = start < 0 ? undefined : text.slice(start, end + 1);
    const found = object === undefined ? undefined : (parseJson(object) ?? parseRepaired(object));
    if (found) return found;
    if (start < 0) loose += 1;
    end = text.lastIndexOf("}", (start < 0 ? end : start) - 1);
    if (start === 0 || end < 0) return undefined;
  }
  return undefined;
}

/** Where the object begins that ends here; -1 when no brace fits. Braces inside of strings do not count. */
function findStart(text: string, from: number, end: number): number {
  let depth = 0;
  let inString = false;
  for (let at = end; at >= from; at -= 1) {
    const char = text[at];
    if (char === '"' && !isEscaped(text, at)) inString = !inString;
    else if (!inString && char === "}") depth += 1;
    else if (!inString && char === "{") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === "\\") before -= 1;
  return (at - before) % 2 === 0;
}
