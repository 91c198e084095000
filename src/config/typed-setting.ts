import { parse } from "smol-toml";
import type { z } from "zod";
import { nearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";
import { type Path, keysIn, namesIn, parseKey, sayKey, schemaAt } from "./key.ts";
import { Values } from "./schema.ts";
import { isSecretName } from "./secret-name.ts";

/** The path of a key that somebody typed, or what was probably meant. */
export function requireKey(typed: string): Path {
  const path = parseKey(typed);
  if (path && schemaAt(Values, path)) return path;
  if (path && isSecretName(path.at(-1) ?? "")) {
    throw new Refusal("bad_input", `${typed} would keep a secret in a file of settings`, {
      hint: `Keep it elsewhere. Type: askd config set ${typed}_env <variable>, or ${typed}_file <path>`,
    });
  }
  const known = keysIn(Values).filter((key) => !key.includes("<name>"));
  const meant = nearest(typed, known) ?? known.find((key) => key.endsWith(`.${typed}`));
  throw new Refusal("bad_input", `There is no setting "${typed}"`, {
    hint: meant ? `Did you mean ${meant}?` : "See what can be set: askd config list",
  });
}

/** What somebody typed as a value, as TOML: as the text that it is where that will do, else as it would stand in a file. */
export function writeValue(path: Path, typed: string): string {
  const schema = schemaAt(Values, path);
  if (!schema) throw new Refusal("bad_input", `There is no setting "${sayKey(path)}"`);
  if (namesIn(schema) && !typed.trim().startsWith("{")) {
    throw new Refusal("bad_input", `${sayKey(path)} is a table`, {
      hint: `Set one of: ${(namesIn(schema) ?? []).map((name) => sayKey([...path, name])).join(", ")}`,
    });
  }
  if (schema.safeParse(typed).success) return JSON.stringify(typed);
  const value = parseValue(typed);
  const parsed = schema.safeParse(value === undefined ? typed : value);
  if (parsed.success) return typed.trim();
  throw new Refusal("bad_input", `${sayKey(path)} cannot be that: ${sayFirst(parsed.error)}`);
}

function parseValue(typed: string): unknown {
  try {
    return parse(`value = ${typed}`)["value"];
  } catch {
    return undefined; // not a value of TOML
  }
}

function sayFirst({ issues }: z.ZodError): string {
  return issues[0]?.message ?? "it is of another kind";
}
