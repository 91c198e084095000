import { z } from "zod";
import type { Actor } from "../people/actor.ts";

/** The source of a fact: measured by askd, set by a person or the configuration, or claimed by the asker. */
export const FactSource = z.enum(["measured", "person", "asker"]);
export type FactSource = z.infer<typeof FactSource>;

/** The facts of a run that have a source. */
export const RunFact = z.enum(["agent", "repo", "labels"]);
export type RunFact = z.infer<typeof RunFact>;

export const RunSources = z.object({ agent: FactSource, repo: FactSource, labels: FactSource });
export type RunSources = z.infer<typeof RunSources>;

/** The facts of a run; without sources they are unverified. */
export interface RunFacts {
  agent: string;
  repo?: string | undefined;
  labels: readonly string[];
  sources?: RunSources | undefined;
}

/** The sources of a new run's facts: measured by askd, else its maker. */
export function sourcesOf(measured: readonly RunFact[], by: Actor): RunSources {
  const said = factSourceOf(by);
  const sourceOf = (fact: RunFact): FactSource => (measured.includes(fact) ? "measured" : said);
  return { agent: sourceOf("agent"), repo: sourceOf("repo"), labels: sourceOf("labels") };
}

/** The source an actor's statement counts as: a configured rule counts as a person, an agent only claims. */
export function factSourceOf({ scope }: Pick<Actor, "scope">): FactSource {
  return scope === "agent" ? "asker" : "person";
}

/** Says whether a fact rests on the asker's word alone. */
export function isUnverified({ sources }: Pick<RunFacts, "sources">, fact: RunFact): boolean {
  return (sources?.[fact] ?? "asker") === "asker";
}

/** The facts of a run that rest on the asker's word alone. */
export function unverifiedFacts(run: RunFacts): RunFact[] {
  return RunFact.options.filter((fact) => hasFact(run, fact) && isUnverified(run, fact));
}

/** Finds the repository if it is verified. */
export function findVerifiedRepo(run: Pick<RunFacts, "repo" | "sources">): string | undefined {
  return isUnverified(run, "repo") ? undefined : run.repo;
}

/** The labels if they are verified. */
export function verifiedLabels(run: Pick<RunFacts, "labels" | "sources">): readonly string[] {
  return isUnverified(run, "labels") ? [] : run.labels;
}

function hasFact({ agent, repo, labels }: RunFacts, fact: RunFact) {
  if (fact === "agent") return agent !== "none";
  return fact === "repo" ? repo !== undefined : labels.length > 0;
}
