import { shortId } from "../../core/id.ts";
import { HOUR_MS, epochMs } from "../../core/instant.ts";
import { machineName } from "../../core/run/machine.ts";
import { type Run, findAgentSession, isAnswerUntaken } from "../../core/run/run.ts";
import { quoteShellWord } from "../../core/text/shell-word.ts";
import type { Agent, RecordedSession } from "../agent.ts";
import { type AgentRegistry, findAgent } from "../registry.ts";
import { isAgentPresent } from "../process/process-identity.ts";

/** How far the store's clock may be ahead of the clock of the agent's transcripts. */
const CLOCKS_APART_MS = HOUR_MS;

/** How and where a person continues the session of a run's agent. */
export interface Takeover {
  dir: string;
  argv: readonly string[];
  /** A process has the session open: two at once would undo each other's work. */
  isOpen: boolean;
}

/** The machine and environment of a person who wants to continue a run. */
export interface TakeoverContext {
  host: string;
  /** The agents that are known here. */
  agents: AgentRegistry;
  env: Readonly<Record<string, string | undefined>>;
  /** The program the run was started with, if known. */
  launched?: string | undefined;
}

/** Says whether no agent works in the session of a run or is about to. */
export function isSessionFree(run: Run): boolean {
  if (run.worker !== undefined) return false;
  return isAnswerUntaken(run) || !["running", "queued", "resuming"].includes(run.status);
}

/** The agent's own program with its session; undefined where there is none that a person could go on with here. */
export async function findTakeover(run: Run, place: TakeoverContext): Promise<Takeover | undefined> {
  const { agents, host, env, launched } = place;
  const agent = findAgent(agents, run.agent);
  if (!agent || agent.program === "" || run.host !== host) return undefined;
  const found = findNamedSession(run) ?? (await findRecordedSession(run, agent, env));
  // The agent named its session: one that looks like a flag would be parsed as one.
  if (!found || found.session.startsWith("-")) return undefined;
  const isUsual = launched === undefined || launched.endsWith(`/${agent.program}`);
  const isOpen = run.seen !== undefined && (await isAgentPresent(run.seen));
  return { dir: found.dir, argv: agent.takeover(found.session, isUsual ? agent.program : launched), isOpen };
}

/** Formats a takeover as a command to type. */
export function takeoverCommand({ dir, argv }: Omit<Takeover, "isOpen">): string {
  return `cd ${quoteShellWord(dir)} && ${argv.map(quoteShellWord).join(" ")}`;
}

/** Advice for an answer that no agent has taken. */
export interface ResumeAdvice {
  /** In one line, for people. */
  line: string;
  /** The command to type here, if known. */
  command?: string;
}

/** How a person brings a kept answer to the agent of a run: by going on in its session. */
export async function adviseResume(run: Run, place: TakeoverContext, program: string): Promise<ResumeAdvice> {
  const agent = findAgent(place.agents, run.agent);
  const id = run.owes.at(-1) ?? run.lastQuestionId;
  if (!agent || agent.program === "" || id === undefined) {
    const check = `${program} check ${id ? shortId(id) : run.number}`;
    return { line: `The asker gets it by asking again, or with: ${check}` };
  }
  if (run.host !== place.host) {
    return {
      line: `Its session is on ${quoteShellWord(machineName(run.host))}. There: ${program} takeover ${run.number}`,
    };
  }
  const takeover = await findTakeover(run, place);
  if (!takeover) {
    const where = run.dir === undefined ? "" : ` in ${quoteShellWord(run.dir)}`;
    const start = `Start ${agent.program}${where} and have it call check_answer ${id}`;
    return { line: `Its session is not among those of ${agent.program} here. ${start}` };
  }
  const command = takeoverCommand(takeover);
  if (!takeover.isOpen) return { line: `Go on in its session: ${command}`, command };
  return { line: `Its session is still open: tell it to go on there. Once it is closed: ${command}`, command };
}

function findNamedSession(run: Run): RecordedSession | undefined {
  const session = findAgentSession(run);
  return session === undefined || run.dir === undefined ? undefined : { session, dir: run.dir };
}

/**
 * Finds the session whose transcript contains the question's id. If two match, none is chosen: the wrong one would
 * bring the answer to other work.
 */
async function findRecordedSession(
  run: Run,
  agent: Agent,
  env: TakeoverContext["env"],
): Promise<RecordedSession | undefined> {
  const text = run.pendingId ?? run.owes.at(-1) ?? run.lastQuestionId;
  if (text === undefined) return undefined;
  const sinceMs = epochMs(run.createdAt) - CLOCKS_APART_MS;
  const found = (await agent.findSessions?.({ text, sinceMs, env })) ?? [];
  const here = found.filter(({ dir }) => dir === run.dir);
  const meant = here.length > 0 ? here : found;
  return meant.length === 1 ? meant[0] : undefined;
}
