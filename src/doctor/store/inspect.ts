import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { formatDuration } from "../../core/text/duration.ts";
import { MINUTE_MS, SECOND_MS, epochMs, msBetween } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { StoreInspection } from "../../store/inspection.ts";
import { errorText } from "../run-checks.ts";
import type { Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import type { Store } from "../../store/store.ts";
import { describeJump } from "../../core/run/failing-job.ts";
import { adviseRestore } from "../../store/sqlite/restore-advice.ts";
import { checkMissingRows } from "./schema.ts";
import type { StoreCopy } from "./store-copy.ts";
import { requireOwnFolder, requireShortPath } from "../../store/sqlite/store-files.ts";
import { listJumpedClocks } from "../../engine/jobs/troubles.ts";

/** Clocks closer than this count as equal; farther than FAR_MS, displayed times are wrong. */
const NEAR_MS = 5 * SECOND_MS;
const FAR_MS = MINUTE_MS;

/** The inspected store and its findings. */
export interface InspectedStore {
  look: StoreInspection | undefined;
  findings: Finding[];
}

/** Inspects the store without changing it. */
export async function inspectStore(
  context: Pick<DoctorContext, "store" | "nowMs">,
  copy: StoreCopy,
): Promise<InspectedStore> {
  const { store, nowMs } = context;
  if (store.kind === "server") {
    return { look: undefined, findings: [{ code: "store", area: "store", level: "ok", text: `behind ${store.url}` }] };
  }
  if (store.kind === "sqlite" && !isForeign(store.file) && !existsSync(store.file)) {
    const text = "sqlite, made when the first question is asked";
    return { look: undefined, findings: [{ code: "store_new", area: "store", level: "ok", text }] };
  }
  const from = nowMs();
  const startedAt = performance.now();
  try {
    const look = await openInspection(store);
    const ms = performance.now() - startedAt;
    const clock = store.kind === "postgres" ? checkClock(look, { from, to: nowMs() }) : [];
    const lost = checkMissingRows(look.missingRows, store, copy);
    const said = describeInspection(look, store.kind === "postgres" ? ms : undefined);
    return { look, findings: [...lost, ...said, ...clock] };
  } catch (error) {
    const fix = error instanceof Refusal ? error.hint : undefined;
    const code = error instanceof Refusal ? error.code : "store_unusable";
    return {
      look: undefined,
      findings: [{ code, area: "store", level: "problem", text: errorText(error), fix }],
    };
  }
}

/** Says whether the folder is another user's, where a file may be that this user does not see, or has no possible path. */
function isForeign(file: string) {
  try {
    requireShortPath(file);
    requireOwnFolder(dirname(file));
    return false;
  } catch {
    return true;
  }
}

/** Opens the store; only its own driver is loaded. */
async function openInspection(store: Exclude<DoctorContext["store"], { kind: "server" }>): Promise<StoreInspection> {
  if (store.kind === "sqlite") requireShortPath(store.file);
  if (store.kind === "sqlite") requireOwnFolder(dirname(store.file));
  if (store.kind === "sqlite") return (await import("../../store/sqlite/inspection.ts")).inspectSqlite(store);
  return (await import("../../store/postgres/inspection.ts")).inspectPostgres(store.url);
}

function describeInspection(look: StoreInspection, ms: number | undefined): Finding[] {
  const findings: Finding[] = [];
  if (look.schema === "newer") {
    findings.push({
      code: "newer_schema",
      area: "store",
      level: "problem",
      text: "a newer askd has changed the store, and this one may not write to it",
      fix: "npm install -g askd@latest",
    });
  }
  if (!look.isDurable) {
    findings.push({
      code: "not_durable",
      area: "store",
      level: "problem",
      text: `${look.keeper} runs with ${look.durability}: a power loss could lose an answer`,
      fix: look.keeper.startsWith("sqlite")
        ? "put the store on a local disk"
        : "alter database … set synchronous_commit = on",
    });
  }
  if (look.isReadOnly) {
    findings.push({
      code: "store_read_only",
      area: "store",
      level: "problem",
      text: `${look.keeper} takes no writes: it is a standby, or set to read-only`,
      fix: "name the primary in the store's address; to look only: --read-only",
    });
  }
  if (look.pooler) findings.push(describePooler(look.pooler));
  if (look.lockedBy) findings.push(describeLock(look.lockedBy));
  if (look.heldBy) findings.push(...checkBlockingTransaction(look.heldBy));
  const isGood = look.isDurable && look.schema !== "newer";
  const parts = [look.keeper, look.durability, ...(ms === undefined ? [] : [`${Math.round(ms)} ms`])];
  const isMade = look.schema === "current" || look.schema === "newer" || look.missingRows.length > 0;
  const later = isMade ? [] : ["tables made at the next use"];
  findings.push({
    code: "store",
    area: "store",
    level: "ok",
    text: [...(isGood ? parts : [look.keeper]), ...later].join(", "),
  });
  return findings;
}

/** Reports a pooler such as PgBouncer; it passes on no notifications. */
function describePooler({ canListen }: NonNullable<StoreInspection["pooler"]>): Finding {
  if (canListen) {
    const text = "behind a pooler, with an address of its own for live updates";
    return { code: "pooler", area: "store", level: "ok", text };
  }
  return {
    code: "pooler_no_listen",
    area: "store",
    level: "warning",
    text: "behind a pooler, which passes on no notifications: changes of others are seen up to a second later",
    fix: "add the direct address to the store's: postgres://…?listen=postgres%3A%2F%2F… (docs/stores.md)",
  };
}

/** Reports a session that keeps others from writing. */
function describeLock({ pid, program, table, ms }: NonNullable<StoreInspection["lockedBy"]>): Finding {
  const what = table === undefined ? "rows" : `the table ${table}`;
  return {
    code: "store_locked",
    area: "store",
    level: "problem",
    text: `${program} (process ${pid} of the database) has had ${what} locked for ${formatDuration(Math.round(ms))}: nobody can write there`,
    fix: `let it end, or end it: select pg_terminate_backend(${pid})`,
  };
}

/** Reports a transaction that blocks the feed. */
export function checkBlockingTransaction({ pid, ms }: NonNullable<StoreInspection["heldBy"]>): Finding[] {
  return [
    {
      code: "feed_held",
      area: "store",
      level: "warning",
      text: `process ${pid} of the database has had a transaction open for ${formatDuration(ms)}: live updates wait for it`,
      fix: `select pg_terminate_backend(${pid})`,
    },
  ];
}

/** Compares the store's clock with this machine's, read before and after it. */
function checkClock(look: StoreInspection, { from, to }: { from: number; to: number }): Finding[] {
  return compareClocks(epochMs(look.now), { from, to }, "the database");
}

/** The findings about another clock that was read between two times of this machine's. */
export function compareClocks(
  there: number,
  { from, to }: { from: number; to: number },
  where: "the database" | "the server",
): Finding[] {
  const area = where === "the server" ? "server" : "store";
  const apartMs = there < from ? from - there : there > to ? there - to : 0;
  if (apartMs < NEAR_MS) return [{ code: "clock", area, level: "ok", text: "clock ok" }];
  const which = there < from ? "ahead of" : "behind";
  return [
    {
      code: "clock_off",
      area,
      level: apartMs < FAR_MS ? "warning" : "problem",
      text: `this machine's clock is ${formatDuration(apartMs)} ${which} the one of ${where}: deadlines differ from the times shown`,
      fix: "set the clock: timedatectl set-ntp true",
    },
  ];
}

/** Checks all of the store's files for damage. */
export async function checkDamage(store: Store, place: DoctorContext["store"]): Promise<Finding[]> {
  const [first, ...more] = await store.findDamage("whole");
  if (first === undefined) return [];
  const rest = more.length > 0 ? ` (and ${more.length} more: askd audit --verify)` : "";
  return [
    {
      code: "store_damaged",
      area: "store",
      level: "problem",
      text: `the file of the store is damaged: ${first}${rest}`,
      fix: place.kind === "sqlite" ? adviseRestore(place.file) : "restore a backup (docs/backup.md)",
    },
  ];
}

/** Checks whether a clock that decides deadlines jumped within a day. */
export async function checkClockJumps(store: Store): Promise<Finding[]> {
  const now = await store.now();
  return (await listJumpedClocks(store)).map(({ doubtedUntil, ...clock }) => ({
    code: "clock_jumped",
    area: "store",
    level: doubtedUntil ? "problem" : "warning",
    text: doubtedUntil
      ? `${describeJump(clock)}: deadlines it made due wait ${formatDuration(Math.max(0, msBetween(now, doubtedUntil)))} more; if the clock is corrected before, nothing happens`
      : `${describeJump(clock)}: earlier questions have less or more time than intended`,
    fix: "set the clock: timedatectl set-ntp true",
  }));
}
