import { TomlError, parse } from "smol-toml";
import type { Table } from "./key.ts";
import type { Problem } from "./problem.ts";

const MOST_DEPTH = 16;

/** The tables of a TOML text, or where it stops being TOML. */
export function parseToml(text: string, source: string): { table: Table } | { problem: Problem } {
  try {
    return { table: parse(text, { maxDepth: MOST_DEPTH, unsafeKeyBehaviour: "throw" }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    // The library's message goes on with the lines around the place, which may hold anything.
    const [first = ""] = error.message.replace(/^Invalid TOML document:\s*/, "").split("\n");
    return {
      problem: {
        ...{ level: "error", source, line, column, message: `This is not TOML: ${first.trim()}` },
        hint: 'A setting is written as: key = "value"',
      },
    };
  }
}
