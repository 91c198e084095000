import { sayDuration } from "../core/text/duration.ts";
import { msBetween } from "../core/instant.ts";
import { sayJump } from "../core/run/trouble.ts";
import { listJumpedClocks } from "../engine/jobs/troubles.ts";
import type { Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";

/** Whether a clock that deadlines are met by jumped within a day. */
export async function checkClockJumps(store: Store): Promise<Finding[]> {
  const now = await store.now();
  return (await listJumpedClocks(store)).map(({ doubtedUntil, ...clock }) => ({
    ...{ code: "clock_jumped", area: "store", level: doubtedUntil ? "problem" : "warning" },
    text: doubtedUntil
      ? `${sayJump(clock)}: deadlines that only this made due wait ${sayDuration(Math.max(0, msBetween(now, doubtedUntil)))} more; put right before, nothing happened`
      : `${sayJump(clock)}: questions that were asked before have less or more time than was meant`,
    fix: "set the clock: timedatectl set-ntp true",
  }));
}
