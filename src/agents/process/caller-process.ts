import { readdirSync } from "node:fs";
import { endianness } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { linkOf, readOrNothing } from "./optional-file.ts";
import { findRunsOfSessions, sessionsAbove } from "./agent-session.ts";
import { hasProcFs, parseStat } from "./process-identity.ts";

/** How many processes are read before yielding to the event loop. */
const AT_ONCE = 64;
const LONGEST_ENVIRON = 4 * 1024 * 1024;
/** Where the fields of a line of /proc/net/tcp are. */
const FIELD = { local: 1, remote: 2, uid: 7, inode: 9 } as const;
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
const MAPPED = "::ffff:";

/** Both ends of a connection, as the server sees them; undefined once it is closed. */
export interface ConnectionEnds {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/**
 * The runs of the process at the other end of a connection, nearest first; none if it is on another machine or another
 * user's. A caller that disconnected before it was found may have been any process of a run.
 */
export async function runsOfCaller(ends: ConnectionEnds): Promise<string[]> {
  if (!hasProcFs || !isFromHere(ends)) return [];
  const below = await listBelowRuns();
  if (below.size === 0) return [];
  const holders = await findHolders(ends, [...below.keys()]);
  const found = holders ? holders.map((pid) => below.get(pid) ?? []) : [...below.values()];
  return [...new Set(found.flat())];
}

/**
 * The runs in whose agent's session the process at the other end of a connection is, also after the agent has ended.
 * Somebody who left before they were found may have been any process of such a session.
 */
export async function sessionRunsOfCaller(ends: ConnectionEnds, stateDir: string): Promise<string[]> {
  if (!hasProcFs || !isFromHere(ends)) return [];
  const pids = (await findHolders(ends)) ?? listPids();
  return findRunsOfSessions(new Set(pids.flatMap((pid) => [...sessionsAbove(pid)])), stateDir);
}

/**
 * The processes that hold the caller's end of a connection open, those of `first` before others; undefined if there is
 * none any more. None for another user's socket, whose processes this one cannot see and whose agents it does not start.
 */
async function findHolders(ends: ConnectionEnds, first: readonly number[] = []): Promise<number[] | undefined> {
  const socket = findSocket(ends);
  if (!socket) return undefined;
  const own = process.getuid?.();
  if (own !== 0 && socket.uid !== String(own)) return [];
  const holds = (pid: number) => hasOpen(pid, `socket:[${socket.inode}]`);
  const near = first.filter(holds);
  if (near.length > 0) return near;
  const holders: number[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    if (holds(pid)) holders.push(pid);
  }
  // It was there a moment ago: nobody can say whose it was.
  return holders.length > 0 ? holders : undefined;
}

/** The caller's socket. */
interface CallerSocket {
  inode: string;
  uid: string | undefined;
}

/** Finds the caller's socket in the kernel's tables; undefined if the caller has closed it. */
export function findSocket(
  ends: ConnectionEnds,
  read: (path: string) => string = readOrNothing,
): CallerSocket | undefined {
  const remote = `${plainAddress(ends.remoteAddress)}:${ends.remotePort}`;
  const local = `${plainAddress(ends.localAddress)}:${ends.localPort}`;
  for (const table of TABLES) {
    for (const line of read(table).split("\n")) {
      const fields = line.trim().split(/\s+/);
      // Our remote end is the caller's local one; its socket has a line of its own.
      const isCaller = parseEnd(fields[FIELD.local]) === remote && parseEnd(fields[FIELD.remote]) === local;
      const inode = fields[FIELD.inode];
      if (isCaller && inode !== undefined && inode !== "0") return { inode, uid: fields[FIELD.uid] };
    }
  }
  return undefined;
}

/** A caller whose connection was reset has no address any more; it may have been anybody here. */
function isFromHere({ remoteAddress, localAddress }: ConnectionEnds): boolean {
  if (remoteAddress === undefined) return true;
  const remote = plainAddress(remoteAddress);
  return remote === plainAddress(localAddress) || remote === "::1" || remote.startsWith("127.");
}

/** The processes of runs and their descendants, each with its runs, nearest first. */
async function listBelowRuns(): Promise<Map<number, string[]>> {
  const pids = listPids();
  const runs = new Map<number, string>();
  for (const [index, pid] of pids.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    const run = findRun(pid);
    if (run !== undefined) runs.set(pid, run);
  }
  if (runs.size === 0) return new Map();
  const parents = new Map<number, number>();
  for (const [index, pid] of pids.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    const stat = parseStat(readOrNothing(`/proc/${pid}/stat`));
    if (stat) parents.set(stat.pid, stat.parent);
  }
  const below = new Map<number, string[]>();
  for (const pid of parents.keys()) {
    const found = runsUp(pid, parents, runs);
    if (found.length > 0) below.set(pid, found);
  }
  return below;
}

function listPids(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function runsUp(pid: number, parents: ReadonlyMap<number, number>, runs: ReadonlyMap<number, string>): string[] {
  const found = new Set<string>();
  const seen = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 1 && !seen.has(at); at = parents.get(at)) {
    seen.add(at); // numbers are given again while we look, and must not lead in a circle
    const run = runs.get(at);
    if (run !== undefined) found.add(run);
  }
  return [...found];
}

function findRun(pid: number): string | undefined {
  const environ = readOrNothing(`/proc/${pid}/environ`);
  return /(?:^|\0)ASKD_RUN=([^\0]+)/.exec(environ.slice(0, LONGEST_ENVIRON))?.[1];
}

function hasOpen(pid: number, target: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => linkOf(`/proc/${pid}/fd/${name}`) === target);
  } catch {
    return false; // gone, or not readable
  }
}

/** An IPv4-mapped IPv6 address equals the IPv4 address. */
function plainAddress(address = ""): string {
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

/** `0100007F:10DF`: each word of the address is in the order of this machine's bytes. */
function parseEnd(text = ""): string | undefined {
  const [, words, port] = /^((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4})$/.exec(text) ?? [];
  if (words === undefined || port === undefined) return undefined;
  const bytes = Buffer.from(words, "hex");
  if (endianness() === "LE") bytes.swap32();
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).equals(Buffer.from("00000000000000000000ffff", "hex"));
  if (bytes.length === 4 || isMapped) return `${[...bytes.subarray(-4)].join(".")}:${Number.parseInt(port, 16)}`;
  return `${formatIpv6(bytes)}:${Number.parseInt(port, 16)}`;
}

/** An address of IPv6 in the short form that Node uses. */
function formatIpv6(bytes: Buffer): string {
  const words = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
  return new URL(`http://[${words}]`).hostname.slice(1, -1);
}
