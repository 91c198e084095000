import type { Read } from "../core/changes.ts";
import type { Instant } from "../core/instant.ts";
import { makeVisible } from "../core/visible.ts";
import { runName } from "./inbox.tsx";

/** What becomes of one question: the words of its answer, or why it gets none. */
export interface Planned {
  read: Read;
  words?: string;
  problem?: string;
  /** Until when the answer can be taken back. */
  until?: Instant | undefined;
}

/** Questions with what became of each. */
export function Lines({ plan }: { plan: readonly Planned[] }) {
  if (plan.length === 0) return null;
  return (
    <ul class="became">
      {plan.map(({ read, words, problem }) => (
        <li>
          <a href={`/q/${read.question.id}`}>{makeVisible(read.question.title)}</a> ({runName(read.run)}):{" "}
          {makeVisible(words ?? problem ?? "")}
        </li>
      ))}
    </ul>
  );
}
