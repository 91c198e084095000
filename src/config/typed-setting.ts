import { parse } from "smol-toml";
import type { z } from "zod";
import { findNearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";
import { keysIn, namesIn, parseKey, schemaAt, formatKey, isSecretName } from "./key.ts";
import type { KeyPath } from "../edit/table.ts";
import { Values } from "./schema.ts";

/** The path of a key that somebody typed, or what was probably meant. */
export function requireKey(typed: string): KeyPath {
  const path = parseKey(typed);
  if (path && schemaAt(Values, path)) return path;
  if (path && isSecretName(path.at(-1) ?? "")) {
    throw new Refusal("bad_input", `${typed} would store a secret in a configuration file`, {
      hint: `Store it elsewhere. Type: askd config set ${typed}_env <variable>, or ${typed}_file <path>`,
    });
  }
  const known = keysIn(Values).filter((key) => !key.includes("<name>"));
  const meant = findNearest(typed, known) ?? known.find((key) => key.endsWith(`.${typed}`));
  throw new Refusal("bad_input", `There is no setting "${typed}"`, {
    hint: meant ? `Did you mean ${meant}?` : "See what can be set: askd config list",
  });
}

/** Turns a typed value into TOML: as text where that is valid, else as it would stand in a file. */
export function writeValue(path: KeyPath, typed: string): string {
  const schema = schemaAt(Values, path);
  if (!schema) throw new Refusal("bad_input", `There is no setting "${formatKey(path)}"`);
  if (namesIn(schema) && !typed.trim().startsWith("{")) {
    throw new Refusal("bad_input", `${formatKey(path)} is a table`, {
      hint: `Set one of: ${(namesIn(schema) ?? []).map((name) => formatKey([...path, name])).join(", ")}`,
    });
  }
  if (schema.safeParse(typed).success) return JSON.stringify(typed);
  const value = parseValue(typed);
  const parsed = schema.safeParse(value === undefined ? typed : value);
  if (parsed.success) return typed.trim();
  throw new Refusal("bad_input", `${formatKey(path)} cannot be that: ${describeFirstIssue(parsed.error)}`);
}

function parseValue(typed: string): unknown {
  try {
    return parse(`value = ${typed}`)["value"];
  } catch {
    return undefined; // not a value of TOML
  }
}

function describeFirstIssue({ issues }: z.ZodError) {
  return issues[0]?.message ?? "it is of another kind";
}
