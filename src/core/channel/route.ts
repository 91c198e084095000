import type { Question } from "../question/question.ts";
import type { Run } from "../run/run.ts";
import { wildcard } from "../text/wildcard.ts";

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

/** Finds the first rule that matches a question. */
export function findRoute(
  routes: readonly Route[],
  { kind, risk }: Pick<Question, "kind" | "risk">,
  { repo = "", agent, labels }: Pick<Run, "repo" | "agent" | "labels">,
): Route | undefined {
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
