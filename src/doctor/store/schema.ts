import { quoteShellWord } from "../../core/text/shell-word.ts";
import { SCHEMA_UNSEEN } from "../../core/trail/trail-mismatch.ts";
import type { SchemaDifference } from "../../store/schema.ts";
import { adviseRestore } from "../../store/sqlite/restore-advice.ts";
import type { Store } from "../../store/store.ts";
import type { DoctorStore } from "../doctor-context.ts";
import type { Finding } from "../finding.ts";
import type { StoreCopy } from "./store-copy.ts";

type OwnStore = Exclude<DoctorStore, { kind: "server" }>;

const LOST_ROWS: Readonly<Record<string, string>> = {
  meta: "the row that says its version",
  word_mark: "the mark of its word index",
  "store chain": "the end of the trail of tokens and people",
};

/** Reports rows of its own that a store has lost. */
export function checkMissingRows(missing: readonly string[], place: OwnStore, copy: StoreCopy): Finding[] {
  if (missing.length === 0) return [];
  const named = missing.map((row) => LOST_ROWS[row] ?? row).join(", ");
  return [
    {
      code: "schema_lost",
      area: "store",
      level: "problem",
      text: `the store has lost ${named}`,
      fix: "askd doctor --fix",
      repair: () => mend(place, copy),
    },
  ];
}

/** Checks that tables, indexes and triggers are as askd makes them. */
export async function checkSchema(store: Store, place: DoctorStore, copy: StoreCopy): Promise<Finding[]> {
  if (place.kind === "server") return [];
  const isMendable = await loadMendable(place);
  const differences = await store.findSchemaDifferences();
  const mendable = differences.filter(isMendable);
  const findings: Finding[] = differences.filter((each) => !isMendable(each)).map((each) => explain(each, place));
  if (mendable.length === 0) return findings;
  return [
    ...findings,
    {
      code: "schema_differs",
      area: "store",
      level: "problem",
      text: `${mendable.map(say).join(", ")}: the store is slower, finds less or writes something else than it says`,
      fix: "askd doctor --fix",
      repair: () => mend(place, copy),
    },
  ];
}

function say({ what, how }: SchemaDifference) {
  if (how === "unseen") return SCHEMA_UNSEEN;
  return how === "added" ? `${what} is not askd's` : `${what} is ${how}`;
}

/** A part that may hold something is left to a person. */
function explain(difference: SchemaDifference, place: OwnStore): Finding {
  const { what, how } = difference;
  if (how === "unseen") {
    const fix = "look on the primary, as a user who may create a schema there";
    return { code: "schema_unseen", area: "store", level: "warning", text: say(difference), fix };
  }
  const [type = "", ...rest] = what.split(" ");
  const name = rest.join(" ");
  const drop = `drop ${type} "${name}"`;
  const shell = place.kind === "sqlite" ? `sqlite3 ${quoteShellWord(place.file)}` : `psql "$ASKD_STORE" -c`;
  const restore = place.kind === "sqlite" ? adviseRestore(place.file) : "restore a backup (docs/backup.md)";
  return {
    code: "schema_foreign",
    area: "store",
    level: how === "added" ? "warning" : "problem",
    text: say(difference),
    fix: how === "added" ? `if nobody needs it: ${shell} ${quoteShellWord(drop)}` : restore,
  };
}

/** Only the driver of the store is loaded. */
async function loadMendable(place: OwnStore): Promise<(difference: SchemaDifference) => boolean> {
  if (place.kind === "sqlite") return (await import("../../store/sqlite/mend-schema.ts")).isMendable;
  return (await import("../../store/postgres/mend-schema.ts")).isMendable;
}

async function mend(place: OwnStore, copy: StoreCopy): Promise<void> {
  await copy.keep();
  if (place.kind === "sqlite") await (await import("../../store/sqlite/mend-schema.ts")).mendSqliteSchema(place.file);
  else await (await import("../../store/postgres/mend-schema.ts")).mendPostgresSchema(place.url);
}
