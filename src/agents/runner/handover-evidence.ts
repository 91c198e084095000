import type { QuestionSnapshot } from "../../core/changes.ts";
import {
  type Handover,
  type Question,
  handoversOf,
  isApprovalSpent,
  isHandedInEpoch,
  isOutcomeOpen,
  isPending,
  outcomeHandover,
  outcomeName,
} from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import type { Agent, AgentEvent, Witnessed } from "../agent.ts";
import type { Launch } from "./run-files.ts";

const MOST_ASKED = 100;
/** The evidence of outcomes that `askd ask --wait` and `askd check` have printed. */
const PRINTED: ReadonlySet<string> = new Set(["stdout", "read"]);

/**
 * A handed-over outcome and the ids that prove it in the agent's transcript: of answers and corrections, or the call.
 */
export interface HandoverEvidence {
  question: Question;
  ids: string[];
  callId: string | undefined;
}

/** The outcomes being handed over to the run's agent, without what came after the hand-over. */
export async function listHandoverEvidence(store: Store, run: Run): Promise<HandoverEvidence[]> {
  const found = await Promise.all(run.owes.map((id) => store.findQuestion(id)));
  const evidence = found.flatMap((question) => (question ? [evidenceOf(question, run)] : []));
  return evidence.filter(({ ids }) => ids.length > 0);
}

/** The questions this epoch hands over, with their content. */
export async function readHandedQuestions(store: Store, run: Run): Promise<QuestionSnapshot[]> {
  const reads = await Promise.all(run.owes.map((id) => readOne(store, run, id)));
  return reads.flatMap((read) => (read && handedIds(read.question, run.epoch).length > 0 ? [read] : []));
}

/** All closed questions of the run, oldest first. */
export async function readRunHistory(store: Store, run: Run): Promise<QuestionSnapshot[]> {
  const asked = await store.listQuestions({ runId: run.id, order: "oldest", limit: MOST_ASKED });
  const reads = await Promise.all(asked.map(({ id }) => readOne(store, run, id)));
  return reads.filter((read) => read !== undefined);
}

/**
 * The outcomes that a command may have lost with its last process: all of them if it goes on without a new one, because
 * it was interrupted, otherwise those that a call of that process had printed. Earlier messages it had as its input.
 */
export function findForgotten(
  history: readonly QuestionSnapshot[],
  handed: readonly QuestionSnapshot[],
): QuestionSnapshot[] {
  const isNew = new Set(handed.flatMap(({ question }) => (isOutcomeOpen(question) ? [question.id] : [])));
  return history.filter(({ question }) => !isNew.has(question.id) && (isNew.size === 0 || wasPrinted(question)));
}

/** Says whether the outcome was given by a command that printed it. */
function wasPrinted(question: Question): boolean {
  return handoversOf(question).some((handover) => handover.state === "given" && PRINTED.has(handover.witness));
}

/** Says whether an agent event proves that the model received this. A refusal of ours is an error that names it. */
export function isShownBy(event: AgentEvent, { ids, callId }: HandoverEvidence): boolean {
  if (event.kind !== "shown") return false;
  return (!event.isError && event.callId === callId) || ids.some((id) => event.text.includes(id));
}

/** Says whether a call has used the approval that it was given. A call that was put off by our hook comes again. */
export async function isApprovalUsed(
  agent: Agent,
  { session, epoch }: Run,
  { dir, env }: Launch,
  { question, callId }: HandoverEvidence,
): Promise<boolean> {
  if (question.kind !== "approval") return false;
  if (isApprovalSpent(question)) return true;
  if (!handoversOf(question).some((handover) => isHandedInEpoch(handover, epoch, "call"))) return false;
  if (session === undefined || callId === undefined) return true;
  return (await agent.isPutOff?.({ session, dir, env, callId })) !== true;
}

/** Asks the agent's own transcript whether it shows this. */
export async function askWitness(
  agent: Agent,
  run: Run,
  launch: Launch,
  { ids, callId }: HandoverEvidence,
): Promise<Witnessed> {
  const { session } = run;
  if (session === undefined) return "unknown";
  const { dir, env } = launch;
  const found = await Promise.all(ids.map((answerId) => agent.witness({ session, dir, env, answerId, callId })));
  if (found.length > 0 && found.every((each) => each === "given")) return "given";
  return found.includes("absent") ? "absent" : "unknown";
}

/** Says whether the session can be resumed: its transcript exists. */
export async function hasSessionRecord(agent: Agent, run: Run, launch: Launch): Promise<boolean> {
  if (run.session === undefined) return false;
  const { dir, env } = launch;
  return (await agent.witness({ session: run.session, dir, env, answerId: run.id, callId: undefined })) !== "unknown";
}

function evidenceOf(question: Question, run: Run): HandoverEvidence {
  return { question, ids: handedIds(question), callId: findAskCall(question, run.session) };
}

/** The ids being handed over: of the outcome, a forced answer and corrections. */
function handedIds(question: Question, epoch?: number): string[] {
  if (isPending(question)) return [];
  const isHanded = (handover: Handover): boolean =>
    handover.state === "handing" && (epoch === undefined || isHandedInEpoch(handover, epoch));
  return [
    ...(isHanded(outcomeHandover(question)) ? [outcomeName(question)] : []),
    ...question.amendments.filter(({ handover }) => isHanded(handover)).map(({ id }) => id),
  ];
}

/** Finds the agent's call that asked this with its own question tool. */
export function findAskCall(question: Question, session: string | undefined): string | undefined {
  // A call of our tool has a result as soon as it is parked, which is not the answer.
  if (question.via !== "hook") return undefined;
  const prefix = `=${session ?? ""}:`;
  return question.key.startsWith(prefix) ? question.key.slice(prefix.length) : undefined;
}

async function readOne(store: Store, run: Run, id: Question["id"]): Promise<QuestionSnapshot | undefined> {
  const question = await store.findQuestion(id);
  const content = question && (await store.findContent(question.content));
  return question && content && !isPending(question) ? { run, question, content } : undefined;
}
