import { quoteLine } from "../text/foreign-text.ts";
import { findNearest } from "../text/nearest.ts";
import { Refusal } from "../refusal.ts";

/** The names of an object's fields, in camelCase; those whose value has fields of its own have a shape. */
export interface FieldShape {
  names: readonly string[];
  within?: Readonly<Record<string, FieldShape>>;
}

/** Fields that protect people: one of them mistyped is refused at every door. */
const PROTECTIONS: readonly string[] = [
  "approvals",
  "need",
  "from",
  "veto",
  "risk",
  "kind",
  "allowText",
  "accepts",
  "secret",
  "isSecret",
  "timeout",
  "timeoutHours",
  "expiresAt",
  "onTimeout",
  "timeoutAction",
  "timeoutParams",
  "defaultAnswer",
];

/**
 * Refuses fields that nobody reads, with the name that was probably meant. Foreign clients add fields of their own to
 * their own shapes; there only a mistyped protection is refused.
 */
export function requireKnownFields(raw: unknown, shape: FieldShape, isForeign: boolean, path = ""): void {
  if (Array.isArray(raw)) {
    for (const each of raw) requireKnownFields(each, shape, isForeign, path);
    return;
  }
  if (raw === null || typeof raw !== "object") return;
  for (const [name, value] of Object.entries(raw)) {
    const camel = camelName(name);
    if (!shape.names.includes(camel)) {
      if (value !== undefined) refuseField(name, { shape, isForeign, path });
      continue;
    }
    const within = shape.within?.[camel];
    if (within) requireKnownFields(value, within, isForeign, camel);
  }
}

function refuseField(name: string, at: { shape: FieldShape; isForeign: boolean; path: string }) {
  const nearest = findNearest(camelName(name), at.shape.names);
  if (at.isForeign && !(nearest !== undefined && PROTECTIONS.includes(nearest))) return;
  const where = at.path === "" ? "" : ` in "${snakeName(at.path)}"`;
  throw new Refusal("bad_input", `The question cannot be read: there is no field ${quoteLine(name)}${where}`, {
    hint: nearest === undefined ? "Leave it out; docs/ask.md lists the fields" : `Write "${snakeName(nearest)}"`,
  });
}

/** Our fields are snake_case on the wire, those of the documents camelCase; both are accepted. */
export function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeName(name: string) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
