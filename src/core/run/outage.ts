import { Refusal, type RefusalCode } from "../refusal.ts";

/** System errors for exhausted or failing resources, which may recover at any moment. */
const SHORTAGES: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EMFILE",
  "ENFILE",
  "EAGAIN",
  "ENOMEM",
  "ENOBUFS",
  "EIO",
  "EROFS",
]);
const AWAY: ReadonlySet<RefusalCode> = new Set<RefusalCode>(["store_unreachable", "store_unusable"]);

/** Says whether the store or this machine failed, rather than the operation itself. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof Refusal) return AWAY.has(error.code);
  if ("code" in error && typeof error.code === "string" && SHORTAGES.has(error.code)) return true;
  return isOutage(error.cause);
}
