import type { QuestionSnapshot } from "../changes.ts";
import type { Content } from "../question/content.ts";
import { type Question, isPending } from "../question/question.ts";
import { nextPolicy } from "../question/timeout.ts";
import type { TimeoutPolicy } from "../question/timeout-policy.ts";
import type { ReachChannel } from "../rules.ts";
import type { EventType } from "../trail/event.ts";

/** The labels of an issue whose question nobody answered, unless the ask declares others. */
const SKIPPED_LABEL = "auto-fix-skip";
const FAILED_LABEL = "auto-fix-failed";
/** Events that may leave traces on the issue. */
const MARKING: ReadonlySet<EventType> = new Set(["question.escalated", "question.timed_out"]);

/** The traces that a deadline leaves on the issue of a question. */
export interface IssueEffects {
  labels: readonly string[];
  comment: string | undefined;
  /** Accounts, or people and groups of askd's list. */
  assign: readonly string[];
}

/** The part of a message that only a comment of an issue has. */
export interface IssueMessage {
  /** The repository of the issue, if it is known. */
  repo: string | undefined;
  /** The consequence of silence, with the answer that applies then. */
  silence: { policy: TimeoutPolicy; answer: string | undefined } | undefined;
}

export function issueMessage(
  { question, run }: QuestionSnapshot,
  { items }: Pick<Content, "items">,
  line: (text: string) => string,
): IssueMessage {
  const { answer } = question.onTimeout;
  const said = items[0]?.options.find(({ value }) => value === answer)?.label ?? answer;
  return {
    repo: question.issue?.repo ?? run.repo,
    silence: isPending(question)
      ? { policy: nextPolicy(question), answer: said === undefined ? undefined : line(said) }
      : undefined,
  };
}

/** Says whether a decision leaves traces on the issue, wherever the question itself was sent. */
export function marksIssue(question: Question, types: readonly EventType[], reach: readonly ReachChannel[]): boolean {
  const isMarking = types.some((type) => MARKING.has(type)) && reach.some(({ hasIssues }) => hasIssues);
  return isMarking && issueEffects(question) !== undefined;
}

/** The effects of what happened so far to a question; undefined if there are none. All of them bear being repeated. */
export function issueEffects(question: Question): IssueEffects | undefined {
  if (question.issue === undefined) return undefined;
  const escalatedTo = question.escalated > 0 ? question.to : [];
  if (question.status === "pending") {
    return escalatedTo.length === 0 ? undefined : { labels: [], comment: undefined, assign: escalatedTo };
  }
  if (question.status !== "timeout") return undefined;
  const { addLabel, comment, assignTo, markAs } = question.onTimeout;
  const usual = question.policy === "skip" ? SKIPPED_LABEL : question.policy === "fail" ? FAILED_LABEL : undefined;
  const labels = [addLabel, markAs].filter((label) => label !== undefined);
  const effects = {
    labels: labels.length > 0 || usual === undefined ? labels : [usual],
    comment,
    assign: [...escalatedTo, ...(assignTo === undefined ? [] : [assignTo])],
  };
  return effects.labels.length + effects.assign.length > 0 || comment !== undefined ? effects : undefined;
}
