import { join } from "node:path";
import { listOrNothing, readOrNothing } from "./optional-file.ts";
import { readBootId } from "./boot-id.ts";
import { hasProcFs, parseStat } from "./process-identity.ts";
import { areStartTimesTrue, isOwnProcess, readProcFile } from "./process-view.ts";

/** Further up nobody has an agent. */
const MOST_ABOVE = 64;
const LONGEST_ENVIRON = 4 * 1024 * 1024;
/** Where the session of a process stands in its line, counted from what follows its name. */
const SESSION_FIELD = 3;

/**
 * The runs in whose agent's POSIX session a process is, or one above it. Every agent is started in a session of its own,
 * which its background processes keep when they drop `ASKD_RUN`, when their parent is gone, and when the agent has
 * ended. None where processes cannot be looked at.
 */
export async function runsOfSession(pid: number, stateDir: string): Promise<string[]> {
  return hasProcFs ? findRunsOfSessions(sessionsAbove(pid), stateDir) : [];
}

/** Says whether a process, or one above it, is in the session of an agent that was started for this run. */
export async function isInSessionOf(pid: number, run: string, stateDir: string): Promise<boolean> {
  return hasProcFs && wasStartedAs(join(stateDir, "runs", run), sessionsAbove(pid), await readBootId());
}

/** The sessions of a process and of those above it, nearest first. */
export function sessionsAbove(pid: number): Set<number> {
  const sessions = new Set<number>();
  let at: number | undefined = pid;
  for (let count = 0; count < MOST_ABOVE && at !== undefined && at > 1; count += 1) {
    const line = readOrNothing(`/proc/${at}/stat`);
    const session = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[SESSION_FIELD]);
    // A session whose leader is outside of this container has the number 0.
    if (session > 1) sessions.add(session);
    at = parseStat(line)?.parent;
  }
  return sessions;
}

/** The runs whose agents were started in these sessions. */
export async function findRunsOfSessions(sessions: ReadonlySet<number>, stateDir: string): Promise<string[]> {
  const runs = new Set<string>();
  const unread = new Set<number>();
  for (const session of sessions) {
    const leader = parseStat(readOrNothing(`/proc/${session}/stat`));
    // From a namespace of users of its own a process sees that others are there, and not their environment.
    const environ = readProcFile(`/proc/${session}/environ`);
    const run = /(?:^|\0)ASKD_RUN=([^\0]+)/.exec(environ?.slice(0, LONGEST_ENVIRON) ?? "")?.[1];
    if (run !== undefined) runs.add(run);
    if (!leader || leader.isGone || (environ === undefined && isOwnProcess(session))) unread.add(session);
  }
  // The number of a session is not given to another process while the session has members.
  if (unread.size > 0) for (const run of await runsStartedAs(unread, stateDir)) runs.add(run);
  return [...runs];
}

/** The runs whose agents were started under these process numbers since this machine was started. */
async function runsStartedAs(pids: ReadonlySet<number>, stateDir: string): Promise<string[]> {
  const boot = await readBootId();
  const dir = join(stateDir, "runs");
  return listOrNothing(dir).filter((run) => wasStartedAs(join(dir, run), pids, boot));
}

/** Says whether an agent of the run in this folder was started under one of these process numbers. */
function wasStartedAs(runDir: string, pids: ReadonlySet<number>, boot: string | undefined) {
  return listOrNothing(runDir).some((name) => {
    if (!/^\d+\.pid$/.test(name)) return false;
    const [startedIn, line = ""] = readOrNothing(join(runDir, name)).split("\n");
    const stat = parseStat(line);
    if (startedIn !== boot || !stat || !pids.has(stat.pid)) return false;
    const leader = parseStat(readOrNothing(`/proc/${stat.pid}/stat`));
    return leader === undefined || leader.born === stat.born || !areStartTimesTrue();
  });
}
