import type { QuestionSnapshot } from "../changes.ts";
import { isPending } from "../question/question.ts";
import { nextPolicy } from "../question/timeout.ts";
import type { TimeoutPolicy } from "../question/timeout-policy.ts";
import type { Rules } from "../rules.ts";
import type { Run } from "../run/run.ts";
import { type FactSource, type RunFact, unverifiedFacts } from "../trail/fact-source.ts";
import { pageLink } from "./page-link.ts";

/** The run of a message as programs read it. */
export interface MessageRun {
  id: string;
  number: number;
  /** Undefined for a run made for one ask: it is named after the question, as that was before anything was redacted. */
  name: string | undefined;
  agent: string | undefined;
  repo: string | undefined;
  branch: string | undefined;
  /** The facts that only the asker claims. */
  unverified: readonly RunFact[];
}

/** The facts of a question that people read in words, for programs. */
export interface QuestionFacts {
  riskSource: FactSource;
  confidence: number | undefined;
  /** The consequence of silence; undefined once it is closed. */
  onTimeout: { policy: TimeoutPolicy; answer: string | undefined } | undefined;
  /** Where a program of a person answers it. */
  answerUrl: string | undefined;
}

export function messageRun(run: Run, line: (text: string) => string): MessageRun {
  const { id, number, agent, repo, branch } = run;
  return {
    id,
    number,
    name: run.implicit ? undefined : line(run.name),
    agent: agent === "none" ? undefined : line(agent),
    repo: repo === undefined ? undefined : line(repo),
    branch: branch === undefined ? undefined : line(branch),
    unverified: unverifiedFacts(run),
  };
}

export function questionFacts(
  { question, content }: QuestionSnapshot,
  rules: Pick<Rules, "publicUrl">,
  line: (text: string) => string,
): QuestionFacts {
  const { riskSource = "asker", confidence, onTimeout } = question;
  // Only labels are redacted, so a redacted question keeps its values to itself.
  const answer = content.shared === undefined && onTimeout.answer !== undefined ? line(onTimeout.answer) : undefined;
  return {
    riskSource,
    confidence,
    onTimeout: isPending(question) ? { policy: nextPolicy(question), answer } : undefined,
    answerUrl: isPending(question) ? pageLink(`/api/v1/questions/${question.id}/answer`, rules) : undefined,
  };
}
