import type { Read } from "../../core/changes.ts";
import { type Handover, type Question, isHandedIn, isPending, outcomeName } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import type { Agent, Sight, Witnessed } from "../agent.ts";
import type { Launch } from "./run-files.ts";

const MOST_ASKED = 100;

/** The names under which the agent's record shows what it was given: ids of answers and corrections, or the call. */
export interface Evident {
  question: Question;
  ids: string[];
  callId: string | undefined;
}

/** Outcomes of the run that are on their way to its agent; what came after they were handed over is not. */
export async function listOnTheWay(store: Store, run: Run): Promise<Evident[]> {
  const found = await Promise.all(run.owes.map((id) => store.findQuestion(id)));
  const evidence = found.flatMap((question) => (question ? [evident(question, run)] : []));
  return evidence.filter(({ ids }) => ids.length > 0);
}

/** What this start of the agent was to bring, with what was asked. */
export async function readHanded(store: Store, run: Run): Promise<Read[]> {
  const reads = await Promise.all(run.owes.map((id) => readOne(store, run, id)));
  return reads.flatMap((read) => (read && handedIds(read.question, run.epoch).length > 0 ? [read] : []));
}

/** Everything that the run has asked and that is closed, oldest first. */
export async function readHistory(store: Store, run: Run): Promise<Read[]> {
  const asked = await store.listQuestions({ runId: run.id, order: "oldest", limit: MOST_ASKED });
  const reads = await Promise.all(asked.map(({ id }) => readOne(store, run, id)));
  return reads.filter((read) => read !== undefined);
}

/** Says whether a line of the agent shows that its model was given this. */
export function isShownBy(sight: Sight, { ids, callId }: Evident): boolean {
  if (sight.kind !== "shown" || sight.isError) return false;
  return sight.callId === callId || ids.some((id) => sight.text.includes(id));
}

/** Asks the agent's own record. */
export async function witness(agent: Agent, run: Run, launch: Launch, { ids, callId }: Evident): Promise<Witnessed> {
  const { session } = run;
  if (session === undefined) return "unknown";
  const { dir, env } = launch;
  const found = await Promise.all(ids.map((answerId) => agent.witness({ session, dir, env, answerId, callId })));
  if (found.length > 0 && found.every((each) => each === "given")) return "given";
  return found.includes("absent") ? "absent" : "unknown";
}

/** Says whether the session can still be resumed: its record is there. */
export async function isSessionThere(agent: Agent, run: Run, launch: Launch): Promise<boolean> {
  if (run.session === undefined) return false;
  const { dir, env } = launch;
  return (await agent.witness({ session: run.session, dir, env, answerId: run.id, callId: undefined })) !== "unknown";
}

function evident(question: Question, run: Run): Evident {
  return { question, ids: handedIds(question), callId: callOf(question, run.session) };
}

/** Names of what is on its way: of the outcome, of a forced answer, of corrections. */
function handedIds(question: Question, epoch?: number): string[] {
  if (isPending(question)) return [];
  const isHanded = (handover: Handover): boolean =>
    handover.state === "handing" && (epoch === undefined || isHandedIn(handover, epoch));
  const outcome = question.status === "timeout" && question.forced ? question.forced : question;
  return [
    ...(isHanded(outcome.handover) ? [outcomeName(question)] : []),
    ...question.amendments.filter(({ handover }) => isHanded(handover)).map(({ id }) => id),
  ];
}

/** The agent's own call that asked this, if it did so by its own question tool. */
export function callOf(question: Question, session: string | undefined): string | undefined {
  // A call of our own tool has a result as soon as it is parked, which is not the answer.
  if (question.via !== "hook") return undefined;
  const prefix = `=${session ?? ""}:`;
  return question.key.startsWith(prefix) ? question.key.slice(prefix.length) : undefined;
}

async function readOne(store: Store, run: Run, id: Question["id"]): Promise<Read | undefined> {
  const question = await store.findQuestion(id);
  const content = question && (await store.findContent(question.content));
  return question && content && !isPending(question) ? { run, question, content } : undefined;
}
