import type { Read } from "../../core/changes.ts";
import type { Instant } from "../../core/instant.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { runName } from "../pages/inbox.tsx";

/** What becomes of one question: the words of its answer, or why it gets none. */
export interface Planned {
  read: Read;
  words?: string;
  problem?: string;
  /** Until when the answer can be taken back. */
  until?: Instant | undefined;
}

/** Questions with what became of each; a reason that several have is told once, before them. */
export function Lines({ plan }: { plan: readonly Planned[] }) {
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

function isRepeated(plan: readonly Planned[], at: number): boolean {
  const reason = plan[at]?.problem;
  return reason !== undefined && plan.some(({ problem }, other) => other !== at && problem === reason);
}

function List({ plan }: { plan: readonly Planned[] }) {
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
