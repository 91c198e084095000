import { z } from "zod";
import type { Actor } from "../people/actor.ts";

/** Where a fact comes from: askd saw it itself, a person or the configuration set it, or only the asker says so. */
export const FactSource = z.enum(["measured", "person", "asker"]);
export type FactSource = z.infer<typeof FactSource>;

/** The facts of a run that others rely on. */
export const RunFact = z.enum(["agent", "repo", "labels"]);
export type RunFact = z.infer<typeof RunFact>;

export const RunSources = z.object({ agent: FactSource, repo: FactSource, labels: FactSource });
export type RunSources = z.infer<typeof RunSources>;

/** A run as far as its facts go. Without sources nobody vouches for them. */
export interface RunFacts {
  agent: string;
  repo?: string | undefined;
  labels: readonly string[];
  sources?: RunSources | undefined;
}

/** The sources of what a new run is known by: what askd measured, else whatever its maker may vouch for. */
export function sourcesOf(measured: readonly RunFact[], by: Actor): RunSources {
  const said = saidBy(by);
  const sourceOf = (fact: RunFact): FactSource => (measured.includes(fact) ? "measured" : said);
  return { agent: sourceOf("agent"), repo: sourceOf("repo"), labels: sourceOf("labels") };
}

/** The source of what somebody says: askd itself acts by its configuration, an agent only claims. */
export function saidBy({ scope }: Pick<Actor, "scope">): FactSource {
  return scope === "agent" ? "asker" : "person";
}

/** Says whether only the asker says so. */
export function isUnverified({ sources }: Pick<RunFacts, "sources">, fact: RunFact): boolean {
  return (sources?.[fact] ?? "asker") === "asker";
}

/** The facts that a run has and that only the asker says. */
export function unverifiedFacts(run: RunFacts): RunFact[] {
  return RunFact.options.filter((fact) => hasFact(run, fact) && isUnverified(run, fact));
}

/** The repository, if anybody but the asker says so. */
export function findVerifiedRepo(run: Pick<RunFacts, "repo" | "sources">): string | undefined {
  return isUnverified(run, "repo") ? undefined : run.repo;
}

/** The labels, if anybody but the asker set them. */
export function verifiedLabels(run: Pick<RunFacts, "labels" | "sources">): readonly string[] {
  return isUnverified(run, "labels") ? [] : run.labels;
}

function hasFact({ agent, repo, labels }: RunFacts, fact: RunFact): boolean {
  if (fact === "agent") return agent !== "none";
  return fact === "repo" ? repo !== undefined : labels.length > 0;
}
