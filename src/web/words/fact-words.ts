import { type RunFact, type RunFacts, isUnverified } from "../../core/trail/fact-source.ts";
import { type Reader, tell } from "../parts/reader.ts";

/** A fact of a run, marked if only the asker says so. */
export function sayFact(reader: Reader, run: RunFacts, fact: RunFact, said: string): string {
  return isUnverified(run, fact) ? tell(reader, "fact.unverified", { fact: said }) : said;
}
