import { type Json, isJson } from "../agents/json.ts";
import type { Change, Path } from "../setup/desired-config.ts";

/** What stands at a path of names and places, whatever it is. */
export function valueAtPath(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return typeof step === "number" ? (inner[step] as unknown) : undefined;
    return isJson(inner) ? inner[step] : undefined;
  }, value);
}

/** What a document says after a change: the measure for what an editor made of its text. */
export function applyToValue(document: Json, change: Change): Json {
  const changed = change.do === "remove" ? without(document, change.path) : withValue(document, change);
  return isJson(changed) ? changed : {};
}

function withValue(value: unknown, { do: how, path, value: wanted }: Exclude<Change, { do: "remove" }>): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return how === "set" ? wanted : [...listOf(value), wanted];
  const inner = withValue(valueAtPath(value, [step]), { do: how, path: rest, value: wanted });
  if (typeof step === "number") return listOf(value).map((one, index) => (index === step ? inner : one));
  return { ...(isJson(value) && value), [step]: inner };
}

function without(value: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined || valueAtPath(value, [step]) === undefined) return value;
  if (rest.length > 0) {
    const inner = without(valueAtPath(value, [step]), rest);
    if (typeof step === "number") return listOf(value).map((one, index) => (index === step ? inner : one));
    return { ...(isJson(value) && value), [step]: inner };
  }
  if (typeof step === "number") return listOf(value).filter((_, index) => index !== step);
  return Object.fromEntries(Object.entries(isJson(value) ? value : {}).filter(([name]) => name !== step));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
