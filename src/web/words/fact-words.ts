import { type RunFact, type RunFacts, isUnverified } from "../../core/trail/fact-source.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";

/** A fact of a run, marked if only the asker claims it. */
export function factWords(reader: PageReader, run: RunFacts, fact: RunFact, said: string): string {
  return isUnverified(run, fact) ? tell(reader, "fact.unverified", { fact: said }) : said;
}
