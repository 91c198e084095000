import { SECOND_MS } from "../../core/instant.ts";
import { pluralize } from "../../core/text/plural.ts";
import { type TrailMismatch, describeTrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { findLostRows } from "../../engine/trail/lost-row.ts";
import { compareRows } from "../../engine/trail/verify.ts";
import { adviseRestore } from "../../store/sqlite/restore-advice.ts";
import type { Store } from "../../store/store.ts";
import type { Finding } from "../finding.ts";
import { type SetAsideWays, nameAll, setAside } from "./damaged-row.ts";

/** A store that takes longer is left to `askd audit --verify`. */
const COMPARE_MS = 60 * SECOND_MS;
const MOST_TOLD = 3;

/** Compares the rows with the trail: rows that are gone or were changed, and seals that are. */
export async function checkTrail(store: Store, ways: SetAsideWays): Promise<Finding[]> {
  const signal = AbortSignal.timeout(COMPARE_MS);
  try {
    const flaws = (await compareRows(store, signal)).filter((flaw) => !isTimer(flaw));
    if (flaws.length === 0) return [];
    const lost = await store.readSnapshot((snapshot) => findLostRows(snapshot, flaws));
    if (lost.length === 0) return [describeFlaws(flaws, ways)];
    return [
      {
        code: "row_lost",
        area: "store",
        level: "problem",
        text: `${pluralize(lost.length, "row")} of which the trail tells ${lost.length === 1 ? "is" : "are"} gone: ${nameAll(lost)}`,
        fix: "askd doctor --fix",
        repair: () => setAside(lost, ways),
      },
    ];
  } catch (error) {
    if (!signal.aborted) throw error;
    const text = `the trail is too long to be compared here: askd audit --verify`;
    return [{ code: "trail_long", area: "store", level: "off", text }];
  }
}

/** The check of the timers finds and makes those that are missing or left over. */
function isTimer(flaw: TrailMismatch) {
  if (flaw.is === "row_missing") return flaw.lost?.table === "job";
  return flaw.is === "row_unknown" && flaw.row.startsWith("job clock:");
}

function describeFlaws(flaws: readonly TrailMismatch[], { place }: SetAsideWays): Finding {
  const told = flaws.slice(0, MOST_TOLD).map(describeTrailMismatch);
  const more = flaws.length > MOST_TOLD ? `; and ${flaws.length - MOST_TOLD} more: askd audit --verify` : "";
  return {
    code: "trail_differs",
    area: "store",
    level: "problem",
    text: `the store is not what its trail says: ${told.join("; ")}${more}`,
    fix: place.kind === "sqlite" ? adviseRestore(place.file) : "restore a backup (docs/backup.md)",
  };
}
