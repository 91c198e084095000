import type { UsageRow } from "../../core/run/usage.ts";
import { sayNumber, sayUsd } from "./number-format.ts";
import { type PageReader, tell } from "./page-reader.ts";

/** The turns of a run. A number that its agent leaves out is unknown, not 0. */
export function sayTurns(reader: PageReader, { turns }: UsageRow): string {
  return turns === undefined
    ? tell(reader, "turns.unknown")
    : tell(reader, turns === 1 ? "turn" : "turns", { n: turns });
}

export function sayCost(reader: PageReader, { costUsd }: UsageRow, as: "cost" | "r.cost"): string {
  return costUsd === undefined ? tell(reader, "cost.unknown") : tell(reader, as, { usd: sayUsd(reader, costUsd) });
}

export function sayTokens(reader: PageReader, { inputTokens, outputTokens }: UsageRow): string {
  const say = (count: number | undefined) =>
    count === undefined ? tell(reader, "r.tokens.unknown") : sayNumber(reader, count);
  return tell(reader, "r.tokens.n", { in: say(inputTokens), out: say(outputTokens) });
}
