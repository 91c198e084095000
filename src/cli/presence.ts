import { SECOND_MS } from "../core/instant.ts";
import type { Actor } from "../core/people/actor.ts";
import type { Engine } from "../engine/engine.ts";

const REPORT_MS = 10 * SECOND_MS;

/**
 * Reports that a person is at this terminal, until the returned function is called: their phone stays quiet for a
 * moment. An agent is not a person.
 */
export function reportPresence(engine: Pick<Engine, "reportPresence">, by: Actor): () => void {
  if (by.scope === "agent") return () => undefined;
  // A courtesy: a server that is away, or too old to know of it, must not disturb the command.
  const report = () => void engine.reportPresence(by).catch(() => undefined);
  report();
  const timer = setInterval(report, REPORT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
