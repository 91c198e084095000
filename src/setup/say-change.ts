import { type Json, valueAt } from "../agents/json.ts";
import type { Change } from "../edit/change.ts";
import type { DesiredConfig } from "../agents/wiring.ts";
import { changesFor } from "./desired-config.ts";

/** Fields that a person may care for; the others are only needed. */
const TELLING: ReadonlySet<string> = new Set(["alwaysLoad", "trust", "timeout", "tool_timeout_sec"]);

/** Describes the new and the updated settings of a file, one short line each. */
export function sayChanges(wishes: readonly DesiredConfig[], document: Json): string[] {
  const servers = wishes.flatMap((wish) => (wish.is === "server" ? sayServer(wish, document) : []));
  const allowed = wishes.flatMap((wish) =>
    wish.is === "allow" && changesFor(wish, document).length > 0 ? [wish.text] : [],
  );
  const hooks = wishes.flatMap((wish) => (wish.is === "hook" ? sayHook(wish.path, changesFor(wish, document)) : []));
  return [...new Set([...servers, ...(allowed.length > 0 ? [`+ allow ${allowed.join(", ")}`] : []), ...hooks])];
}

function sayServer(wish: Extract<DesiredConfig, { is: "server" }>, document: Json): string[] {
  const changes = changesFor(wish, document);
  if (changes.length === 0) return [];
  // The folder of a project that stands in the path is left out: it is where the person is.
  const name = wish.path.filter((step) => !/[/\\]/.test(step) && step !== "projects").join(".");
  const fields = Object.entries(wish.fields).filter(([field, { when }]) => TELLING.has(field) && when !== "raise");
  if (valueAt(document, ...wish.path) === undefined) return [`+ ${[name, ...fields.map(sayField)].join(", ")}`];
  return [`~ ${name}: ${changes.map(({ path }) => path.at(-1)).join(", ")}`];
}

function sayField([name, { value }]: [string, { value: unknown }]): string {
  return typeof value === "number" ? `${name} ${value}` : name;
}

function sayHook(path: readonly string[], changes: readonly Change[]): string[] {
  if (changes.length === 0) return [];
  return [changes.some((change) => change.do === "append") ? `+ hook ${path.at(-1)}` : `~ hook ${path.at(-1)}`];
}
