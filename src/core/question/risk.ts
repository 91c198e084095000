import { z } from "zod";
import type { Actor } from "../people/actor.ts";
import type { AskInput } from "./ask-input.ts";
import { type FactSource, saidBy } from "../trail/fact-source.ts";

export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** The risk of a question that says nothing about it. */
const USUAL: Risk = "medium";

/** A risk, and who says that it is not less. */
export interface SourcedRisk {
  risk: Risk;
  riskSource: FactSource;
}

/**
 * The least risk that askd itself sees in what is asked, undefined where it cannot tell. A tool that an agent may not use
 * without approval is never harmless.
 */
export function measureRisk({ kind }: Pick<AskInput, "kind">): Risk | undefined {
  return kind === "approval" ? "medium" : undefined;
}

/**
 * The risk that counts. Whoever asks can raise it, but not lower it below what askd measures, nor below the risk of the
 * question that this one continues.
 */
export function settleRisk(
  input: Pick<AskInput, "kind" | "risk">,
  followed: { risk: Risk; riskSource?: FactSource | undefined } | undefined,
  by: Pick<Actor, "scope">,
): SourcedRisk {
  const measured = measureRisk(input);
  const floors: SourcedRisk[] = [
    ...(followed ? [{ risk: followed.risk, riskSource: followed.riskSource ?? "asker" }] : []),
    ...(measured ? [{ risk: measured, riskSource: "measured" as const }] : []),
  ];
  const said: SourcedRisk = input.risk
    ? { risk: input.risk, riskSource: saidBy(by) }
    : { risk: floors.length > 0 ? "low" : USUAL, riskSource: "measured" };
  return floors.reduce((highest, floor) => (levelOf(floor) >= levelOf(highest) ? floor : highest), said);
}

/** Says whether only the asker says that a question is less dangerous than others. */
export function isRiskUnverified({ risk, riskSource }: { risk: Risk; riskSource?: FactSource | undefined }): boolean {
  return risk === "low" && (riskSource ?? "asker") === "asker";
}

function levelOf({ risk }: { risk: Risk }): number {
  return Risk.options.indexOf(risk);
}
