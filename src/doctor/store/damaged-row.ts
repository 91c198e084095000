import { SYSTEM } from "../../core/people/actor.ts";
import { pluralize } from "../../core/text/plural.ts";
import type { Ids } from "../../core/id.ts";
import type { Rules } from "../../core/rules.ts";
import { listDamagedRows, setRowsAside } from "../../engine/trail/set-aside.ts";
import type { UnreadableRow } from "../../engine/trail/unreadable-row.ts";
import { adviseRestore } from "../../store/sqlite/restore-advice.ts";
import type { Store } from "../../store/store.ts";
import type { DoctorStore } from "../doctor-context.ts";
import type { Finding } from "../finding.ts";
import type { StoreCopy } from "./store-copy.ts";

const MOST_NAMED = 5;

/** How damaged rows are set aside. */
export interface SetAsideWays {
  place: DoctorStore;
  rules: Rules;
  ids: Ids;
  copy: StoreCopy;
  /** Opens the store to write. */
  open(): Promise<Store>;
}

/** Checks that the text of every row can be read. */
export async function checkRows(store: Store, ways: SetAsideWays): Promise<Finding[]> {
  const damaged = await listDamagedRows(store);
  const lines = damaged.filter(isOfTrail);
  const rows = damaged.filter((row) => !isOfTrail(row));
  return [
    ...(rows.length > 0 ? [describeRows(rows, ways)] : []),
    ...(lines.length > 0 ? [describeLines(lines, ways)] : []),
  ];
}

function describeRows(rows: readonly UnreadableRow[], ways: SetAsideWays): Finding {
  return {
    code: "row_unreadable",
    area: "store",
    level: "problem",
    text: `${pluralize(rows.length, "row")} cannot be read and left out everywhere: ${nameAll(rows)}`,
    fix: "askd doctor --fix",
    repair: () => setAside(rows, ways),
  };
}

/** Nothing can take the place of a line of the trail, or of a page of them: its hash proves what it said. */
function describeLines(lines: readonly UnreadableRow[], { place }: SetAsideWays): Finding {
  const restore = place.kind === "sqlite" ? adviseRestore(place.file) : "restore a backup (docs/backup.md)";
  return {
    code: "trail_unreadable",
    area: "store",
    level: "problem",
    text: `the trail is damaged: ${nameAll(lines)}; everything else works, and exports have it as it is`,
    fix: restore,
  };
}

function isOfTrail({ table }: UnreadableRow) {
  return table === "event" || table === "archive";
}

/** The names of the first rows, and how many more there are. */
export function nameAll(rows: readonly UnreadableRow[]): string {
  const named = rows.slice(0, MOST_NAMED).map(({ name }) => name);
  return `${named.join(", ")}${rows.length > MOST_NAMED ? ` and ${rows.length - MOST_NAMED} more` : ""}`;
}

/** Replaces the rows; a copy of the store is kept. */
export async function setAside(
  rows: readonly UnreadableRow[],
  { rules, ids, copy, open }: SetAsideWays,
): Promise<void> {
  await copy.keep();
  const store = await open();
  try {
    const done = await setRowsAside(store, rows, { now: await store.now(), by: SYSTEM, ids, rules });
    if (done.length < rows.length) throw new Error(`${rows.length - done.length} rows could not be set aside`);
  } finally {
    await store.close();
  }
}
