import { isOlder } from "../agents/version.ts";

/** The oldest Node that askd runs on. */
export const LEAST_NODE = "20.19";

/** Says whether askd does not run on this version of Node. */
export function isOldNode(version: string): boolean {
  return isOlder(version, [20, 19, 0]);
}
