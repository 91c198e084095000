import type { Run } from "../run/run.ts";
import type { Language } from "../text/language.ts";
import { type RunFact, isUnverified } from "../trail/fact-source.ts";
import { tellIn } from "./message-words.ts";

/** The longest part of the line about a run: so short that no claimed name pushes the mark of a fact out of the line. */
export const RUN_PART_CHARS = 80;

/** The run in words: number, name, repository, agent. What only the asker claims is marked. */
export function sayRun(run: Run, part: (text: string) => string, language: Language): string {
  const sayFact = (fact: RunFact, said: string | undefined) => {
    if (said === undefined || said === "" || said === "none") return [];
    return [isUnverified(run, fact) ? tellIn(language, "fact.unverified", { fact: part(said) }) : part(said)];
  };
  // A run made for one ask is named after the question, as it was before anything was redacted.
  const name = run.implicit ? `#${run.number}` : part(`#${run.number} ${run.name}`);
  return [name, ...sayFact("repo", run.repo), ...sayFact("agent", run.agent)].join(" · ");
}
