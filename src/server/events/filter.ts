import type { Actor } from "../../core/people/actor.ts";
import { type Event, EventType } from "../../core/trail/event.ts";
import { type RunId, STORE_CHAIN } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { type RestCall, requireOwnRun } from "../rest/rest-call.ts";

/** Filters the events that a caller may see and wants to see. An agent sees its own run, and has to name it if it has none. */
export async function eventFilter(
  call: RestCall,
  { run, types }: { run?: RunId; types?: string },
): Promise<(event: Event) => boolean> {
  const only = run ?? (call.bearer.scope === "agent" ? call.bearer.runId : undefined);
  if (only === undefined && call.bearer.scope === "agent") {
    throw new Refusal("not_permitted", "This token has no run of its own; name one of yours", {
      hint: "Add ?run=r_…",
    });
  }
  if (run) await requireOwnRun(call, run);
  const isWanted = readTypes(types);
  return (event) => (only === undefined || event.runId === only) && maySee(call.bearer, event) && isWanted(event.type);
}

/** Events of tokens and people are shown to callers who may list them. */
export function maySee({ scope }: Pick<Actor, "scope">, { runId }: Pick<Event, "runId">): boolean {
  return runId !== STORE_CHAIN || scope === "admin" || scope === "system";
}

function readTypes(text: string | undefined): (type: string) => boolean {
  if (text === undefined) return () => true;
  const names = text.split(",").map((name) => name.trim());
  const known: readonly string[] = EventType.options;
  const kinds = names.filter((name) => name.endsWith(".*")).map((name) => name.slice(0, -1));
  const unknown = names.find((name) => !name.endsWith(".*") && !known.includes(name));
  if (unknown !== undefined) {
    throw new Refusal("bad_input", `There is no event "${unknown.slice(0, 60)}"`, { hint: "See /openapi.json" });
  }
  return (type) => names.includes(type) || kinds.some((kind) => type.startsWith(kind));
}
