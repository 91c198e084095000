import { readlinkSync } from "node:fs";

/** The number of this process in /proc, which may be that of a namespace above its own. */
export function pidInProc(): number {
  try {
    return Number(readlinkSync("/proc/self"));
  } catch {
    return process.pid; // there is no such file system here
  }
}
