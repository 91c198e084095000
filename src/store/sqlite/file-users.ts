import { readFileSync, readdirSync, readlinkSync } from "node:fs";

/** A process that has a file of a store open. */
export interface FileUser {
  pid: number;
  /** Its command line, or its name. */
  command: string;
}

/** The index of the log, which every process has open that reads or writes with the log. */
export const INDEX = "-shm";

const PROCESSES = "/proc";
const MOST_CHARS = 120;

/** The processes that have the store in this file open, as far as this user can see them; none without /proc. */
export function listFileUsers(database: string, ends: readonly string[] = ["", "-wal", INDEX]): FileUser[] {
  const files = new Set(ends.map((end) => `${database}${end}`));
  return listNames(PROCESSES)
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => listNames(`${PROCESSES}/${name}/fd`).some((fd) => files.has(readLink(name, fd))))
    .map((name) => ({ pid: Number(name), command: readCommand(name) }));
}

/** Names processes in a sentence: `process 12 (askd serve)`. */
export function describeFileUsers(users: readonly FileUser[]): string {
  return users.map(({ pid, command }) => `process ${pid}${command === "" ? "" : ` (${command})`}`).join(", ");
}

function readLink(pid: string, fd: string) {
  try {
    return readlinkSync(`${PROCESSES}/${pid}/fd/${fd}`);
  } catch {
    return ""; // it was closed meanwhile
  }
}

/** The program and its arguments, without the interpreter and folders, which say nothing to a person. */
function readCommand(pid: string) {
  try {
    const words = readFileSync(`${PROCESSES}/${pid}/cmdline`, "utf8")
      .split("\0")
      .filter((word) => word !== "");
    const named = words.slice(words[0]?.endsWith("/node") ? 1 : 0);
    const [program = "", ...args] = named;
    return [program.replace(/^.*\//, ""), ...args].join(" ").slice(0, MOST_CHARS);
  } catch {
    return ""; // it ended meanwhile
  }
}

function listNames(folder: string) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it is another user's, or there is no /proc
  }
}
