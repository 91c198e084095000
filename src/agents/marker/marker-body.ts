import { type Json, isJson } from "../json.ts";

/** How deep a marker may stand in JSON texts that hold JSON texts. */
const MAX_DEPTH = 3;
const FENCE = "```";
const CLOSING = new Set(["}", "]"]);
const LITERAL: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Reads the JSON object between two markers. Only what has one meaning is repaired: a prefix on each line, a fence, the
 * escapes of a JSON text around it, a trailing comma, a line break inside a string.
 */
export function readMarkerBody(body: string): Json | undefined {
  for (const text of [body, withoutPrefix(body)]) {
    const found = text === undefined ? undefined : parseObject(text, 0);
    if (found) return found;
  }
  return undefined;
}

function parseObject(text: string, depth: number): Json | undefined {
  const bare = withoutFence(text.trim());
  const parsed = parseAny(bare) ?? parseAny(repaired(bare));
  if (isJson(parsed)) return parsed;
  if (depth >= MAX_DEPTH) return undefined;
  if (typeof parsed === "string") return parseObject(parsed, depth + 1);
  const inner = bare.includes("\\") ? parseAny(`"${bare}"`) : undefined;
  return typeof inner === "string" ? parseObject(inner, depth + 1) : undefined;
}

function withoutFence(text: string): string {
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text;
  return text
    .slice(FENCE.length, -FENCE.length)
    .replace(/^\w*/, "") // the language
    .trim();
}

/** The object that a text holds once its commas and line breaks are repaired. */
export function parseRepaired(text: string): Json | undefined {
  const parsed = parseAny(repaired(text));
  return isJson(parsed) ? parsed : undefined;
}

function parseAny(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    return undefined;
  }
}

/** Drops commas before a closing bracket and at the end, and escapes line breaks inside strings. */
function repaired(text: string): string {
  const pieces: string[] = [];
  let inString = false;
  let isEscaped = false;
  /** Where the last comma stands, if only spaces followed. */
  let comma = -1;
  for (const char of text.replace(/,\s*$/, "")) {
    if (inString) {
      pieces.push(LITERAL[char] ?? char);
      if (char === '"' && !isEscaped) inString = false;
      isEscaped = char === "\\" && !isEscaped;
      continue;
    }
    if (CLOSING.has(char) && comma >= 0) pieces[comma] = "";
    if (char === ",") comma = pieces.length;
    else if (char.trim() !== "") comma = -1;
    inString = char === '"';
    pieces.push(char);
  }
  return pieces.join("");
}

/** The lines without the prefix that each of them has, such as a time or a name; undefined if they have none. */
function withoutPrefix(body: string): string | undefined {
  const lines = body.split("\n").filter((line) => line.trim() !== "");
  const first = lines.find((line) => line.includes("{")) ?? "";
  const prefix = first.slice(0, first.indexOf("{")).trimEnd();
  if (prefix.trim() === "") return undefined;
  const likePrefix = new RegExp(`^${shapeOf(prefix)}`);
  if (!lines.every((line) => likePrefix.test(line))) return undefined;
  return lines.map((line) => line.replace(likePrefix, "")).join("\n");
}

/** A pattern for the same prefix with other numbers: times and counters change from line to line. */
function shapeOf(prefix: string): string {
  return prefix.replace(/\d+|[^\w\s]/g, (part) => (/^\d/.test(part) ? "\\d+" : `\\${part}`));
}
