import { readFileSync, readdirSync, readlinkSync } from "node:fs";

// Files of processes may be gone, somebody else's, or not on this system; then there is nothing to read.

export function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

export function listOrNothing(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

export function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
