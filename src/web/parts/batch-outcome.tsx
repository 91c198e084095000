import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Instant } from "../../core/instant.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { runName } from "../pages/inbox.tsx";

/** The outcome of one question in a batch: the text of its answer, or the reason why it has none. */
export interface BatchOutcome {
  read: QuestionSnapshot;
  words?: string;
  problem?: string;
  /** End of the undo window. */
  until?: Instant | undefined;
}

/** Questions with their outcomes; a reason that several share is shown once, above them. */
export function BatchOutcomes({ plan }: { plan: readonly BatchOutcome[] }) {
  if (plan.length === 0) return null;
  const shared = new Set(plan.flatMap(({ problem = "" }, at) => (isRepeated(plan, at) ? [problem] : [])));
  return (
    <>
      {[...shared].map((reason) => (
        <>
          <p>{makeVisible(reason)}</p>
          <List plan={plan.filter(({ problem }) => problem === reason).map(({ read }) => ({ read }))} />
        </>
      ))}
      <List plan={plan.filter(({ problem }) => problem === undefined || !shared.has(problem))} />
    </>
  );
}

function isRepeated(plan: readonly BatchOutcome[], at: number) {
  const reason = plan[at]?.problem;
  return reason !== undefined && plan.some(({ problem }, other) => other !== at && problem === reason);
}

function List({ plan }: { plan: readonly BatchOutcome[] }) {
  if (plan.length === 0) return null;
  return (
    <ul class="became">
      {plan.map(({ read, words, problem }) => (
        <li>
          <a href={`/q/${read.question.id}`}>{makeVisible(read.question.title)}</a> ({runName(read.run)})
          {words === undefined && problem === undefined ? null : `: ${makeVisible(words ?? problem ?? "")}`}
        </li>
      ))}
    </ul>
  );
}
