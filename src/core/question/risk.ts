import { z } from "zod";
import type { Actor } from "../people/actor.ts";
import type { AskInput } from "./ask-input.ts";
import { type FactSource, factSourceOf } from "../trail/fact-source.ts";
import type { QuestionId } from "../id.ts";
import { hashText } from "./content.ts";
import { makeVisible } from "../text/visible.ts";
import { measureToolRisk } from "./tool-risk.ts";

export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** The risk of a question that declares none. */
export const DEFAULT_RISK: Risk = "medium";

/** A risk and its source. */
export interface SourcedRisk {
  risk: Risk;
  riskSource: FactSource;
}

/**
 * The minimum risk that askd itself sees in an ask, from the tool and its arguments; undefined if it cannot tell. An
 * approval is never low risk.
 */
function measureRisk({ kind, tool }: Pick<AskInput, "kind" | "tool">): Risk | undefined {
  if (tool) return measureToolRisk(tool);
  return kind === "approval" ? "medium" : undefined;
}

/**
 * The effective risk. The asker can raise it, but not lower it below what askd measures or below the risk of the
 * question this one continues.
 */
export function settleRisk(
  input: Pick<AskInput, "kind" | "risk" | "tool">,
  followed: { risk: Risk; riskSource?: FactSource | undefined } | undefined,
  by: Pick<Actor, "scope">,
): SourcedRisk {
  const measured = measureRisk(input);
  const floors: SourcedRisk[] = [
    ...(followed ? [{ risk: followed.risk, riskSource: followed.riskSource ?? "asker" }] : []),
    ...(measured ? [{ risk: measured, riskSource: "measured" as const }] : []),
  ];
  const said: SourcedRisk = input.risk
    ? { risk: input.risk, riskSource: factSourceOf(by) }
    : { risk: floors.length > 0 ? "low" : DEFAULT_RISK, riskSource: "measured" };
  return floors.reduce((highest, floor) => (riskLevel(floor) >= riskLevel(highest) ? floor : highest), said);
}

/** Says whether a low risk rests on the asker's word alone. */
export function isRiskUnverified({ risk, riskSource }: { risk: Risk; riskSource?: FactSource | undefined }): boolean {
  return risk === "low" && (riskSource ?? "asker") === "asker";
}

function riskLevel({ risk }: { risk: Risk }) {
  return Risk.options.indexOf(risk);
}

const QUOTED = /[`"“']([^`"”'\s]{3,40})[`"”']/;
// An identifier: parts joined by characters that do not join words of a sentence.
const NAME = /[A-Za-z0-9]+(?:[_/.:-][A-Za-z0-9]+)+/;

/** The word a person types to confirm a high-risk question: its subject, or the name of its run. */
export function confirmationWord(title: string, runName: string): string {
  const found = QUOTED.exec(title)?.[1] ?? NAME.exec(title)?.[0];
  // Invisible characters cannot be typed.
  const isTypeable = found !== undefined && found.length <= 40 && makeVisible(found) === found;
  return isTypeable ? found : runName.trim();
}

const CODE_CHARS = 6;

/**
 * The code that allows an approval in a channel whose message does not show all of it. askd tells it where all of it is
 * shown: who replies with it has been there. It proves nobody's identity; the channel does.
 */
export function shownCode(id: QuestionId): string {
  return hashText(`shown ${id}`).slice(0, CODE_CHARS);
}

/** Takes that code out of the first line of a reply. */
export function readShownCode(id: QuestionId, text: string): { text: string; hasCode: boolean } {
  const [first = "", ...rest] = text.trim().split("\n");
  const words = first.trim().split(/\s+/);
  const hasCode = words.length > 1 && words.at(-1)?.toLowerCase().replace(/\W/g, "") === shownCode(id);
  return { text: hasCode ? [words.slice(0, -1).join(" "), ...rest].join("\n") : text, hasCode };
}
