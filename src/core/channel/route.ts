import type { Question } from "../question/question.ts";
import { DEFAULT_RISK, isRiskUnverified } from "../question/risk.ts";
import type { Run } from "../run/run.ts";
import { wildcard } from "../text/wildcard.ts";
import { findVerifiedRepo, isUnverified, verifiedLabels } from "../trail/fact-source.ts";

/** A rule of the settings that chooses people and channels. Each list that is given must match, by one of its entries. */
export interface Route {
  /** How messages name the rule. */
  name: string;
  repo?: readonly string[] | undefined;
  agent?: readonly string[] | undefined;
  label?: readonly string[] | undefined;
  kind?: ReadonlyArray<Question["kind"]> | undefined;
  risk?: ReadonlyArray<Question["risk"]> | undefined;
  /** People and groups. */
  people: readonly string[];
  channels: readonly string[];
}

/**
 * Finds the first rule that matches a question. What only the asker claims counts as not said: an agent cannot choose who
 * is told. A low risk that it claims counts as the risk of a question that declares none.
 */
export function findRoute(
  routes: readonly Route[],
  question: Pick<Question, "kind" | "risk" | "riskSource">,
  run: Pick<Run, "repo" | "agent" | "labels" | "sources">,
): Route | undefined {
  const { kind } = question;
  const risk = isRiskUnverified(question) ? DEFAULT_RISK : question.risk;
  const repo = findVerifiedRepo(run) ?? "";
  const agent = isUnverified(run, "agent") ? "" : run.agent;
  const labels = verifiedLabels(run);
  return routes.find(
    (route) =>
      isMatched(route.repo, [repo]) &&
      isMatched(route.agent, [agent]) &&
      isMatched(route.label, labels) &&
      (route.kind?.includes(kind) ?? true) &&
      (route.risk?.includes(risk) ?? true),
  );
}

function isMatched(patterns: readonly string[] | undefined, names: readonly string[]) {
  return patterns?.some((pattern) => names.some(wildcard(pattern))) ?? true;
}
