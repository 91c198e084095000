import { shortId } from "../../core/id.ts";
import { HOUR_MS, epochMs } from "../../core/instant.ts";
import { machineName } from "../../core/run/machine.ts";
import { type Run, findAgentSession, isAnswerUntaken } from "../../core/run/run.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import type { Agent, RecordedSession } from "../agent.ts";
import { findAgent } from "../agents.ts";
import { isSeenAlive } from "../process/process-identity.ts";

/** How far the clock of a store may be ahead of the one that dates the agent's records. */
const CLOCKS_APART_MS = HOUR_MS;

/** How a person goes on in the session of a run's agent, and where. */
export interface Takeover {
  dir: string;
  argv: readonly string[];
  /** Some process still has the session open: two at once would undo each other's work. */
  isOpen: boolean;
}

/** Where somebody stands who wants to go on with a run. */
export interface TakeoverPlace {
  host: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The program that the run was started with, where that is known. */
  launched?: string | undefined;
}

/** Says whether nobody works in the session of a run, or is about to: two at once would undo each other's work. */
export function isLeft(run: Run): boolean {
  if (run.worker !== undefined) return false;
  return isAnswerUntaken(run) || !["running", "queued", "resuming"].includes(run.status);
}

/** The agent's own program with its session; undefined where there is none that a person could go on with here. */
export async function findTakeover(run: Run, { host, env, launched }: TakeoverPlace): Promise<Takeover | undefined> {
  const agent = findAgent(run.agent);
  if (!agent || agent.program === "" || run.host !== host) return undefined;
  const found = findNamed(run) ?? (await findRecorded(run, agent, env));
  // A session is what the agent said it is: one that looks like a flag would be taken for one.
  if (!found || found.session.startsWith("-")) return undefined;
  const isUsual = launched === undefined || launched.endsWith(`/${agent.program}`);
  const isOpen = run.seen !== undefined && (await isSeenAlive(run.seen));
  return { dir: found.dir, argv: agent.takeover(found.session, isUsual ? agent.program : launched), isOpen };
}

/** The same as a line to type. */
export function sayTakeover({ dir, argv }: Omit<Takeover, "isOpen">): string {
  return `cd ${shellWord(dir)} && ${argv.map(shellWord).join(" ")}`;
}

/** What a person does about an answer that nobody has taken. */
export interface WayOn {
  /** In one line, for people. */
  line: string;
  /** What to type here, where that is known. */
  command?: string;
}

/** How a person brings a kept answer to the agent of a run: by going on in its session. */
export async function findWayOn(run: Run, place: TakeoverPlace, program: string): Promise<WayOn> {
  const agent = findAgent(run.agent);
  const id = run.owes.at(-1) ?? run.lastQuestionId;
  if (!agent || agent.program === "" || id === undefined) {
    const check = `${program} check ${id ? shortId(id) : run.number}`;
    return { line: `Whoever asked gets it by asking again, or with: ${check}` };
  }
  if (run.host !== place.host) {
    return { line: `Its session is on ${shellWord(machineName(run.host))}. There: ${program} takeover ${run.number}` };
  }
  const takeover = await findTakeover(run, place);
  if (!takeover) {
    const where = run.dir === undefined ? "" : ` in ${shellWord(run.dir)}`;
    const start = `Start ${agent.program}${where} and have it call check_answer ${id}`;
    return { line: `Its session is not among those of ${agent.program} here. ${start}` };
  }
  const command = sayTakeover(takeover);
  if (!takeover.isOpen) return { line: `Go on in its session: ${command}`, command };
  return { line: `Its session is still open: tell it to go on there. Once it is closed: ${command}`, command };
}

function findNamed(run: Run): RecordedSession | undefined {
  const session = findAgentSession(run);
  return session === undefined || run.dir === undefined ? undefined : { session, dir: run.dir };
}

/**
 * The session that was told the id of the question, as the agent's records show. Two that know it are not chosen
 * between: going on in the wrong one would bring the answer to somebody else's work.
 */
async function findRecorded(run: Run, agent: Agent, env: TakeoverPlace["env"]): Promise<RecordedSession | undefined> {
  const text = run.pendingId ?? run.owes.at(-1) ?? run.lastQuestionId;
  if (text === undefined) return undefined;
  const sinceMs = epochMs(run.createdAt) - CLOCKS_APART_MS;
  const found = (await agent.findSessions?.({ text, sinceMs, env })) ?? [];
  const here = found.filter(({ dir }) => dir === run.dir);
  const meant = here.length > 0 ? here : found;
  return meant.length === 1 ? meant[0] : undefined;
}
