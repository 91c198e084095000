import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgres } from "../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { createDatabase, startPostgres } from "../test/postgres.ts";
import { askd } from "./askd.ts";
import { barePostgres, groupedPostgres } from "./floor-postgres.ts";
import { bareSqlite, groupedSqlite } from "./floor-sqlite.ts";
import { type Measured, type Subject, measure, median } from "./loop.ts";

const ROUNDS = Number(process.argv[2] ?? 3);
const MS = Number(process.argv[3] ?? 2_000);
const AT_ONCE = 32;
/** A server runs for days: what is measured is how fast it is when its code has been compiled. */
const WARM_UP_MS = 8_000;

interface Row {
  name: string;
  one: Measured[];
  many: Measured[];
}

const directory = mkdtempSync(join(tmpdir(), "askd-bench-"));
const postgres = await startPostgres();
try {
  console.log(`ask → answer → the waiting run has it; ${ROUNDS} rounds of ${MS} ms, warm; median (lowest–highest)`);
  console.log("\nSQLite, WAL, synchronous = FULL");
  await compare(
    [bareSqlite(directory), groupedSqlite(directory), askd(await openSqliteStore(join(directory, "askd.db")))],
    { one: 0.5, many: 0.25 },
  );
  console.log("\nPostgreSQL, fsync = on, synchronous_commit = on");
  const url = await createDatabase("bench", postgres.url);
  await compare([await barePostgres(url), await groupedPostgres(url), askd(await openPostgres({ url }))], {
    one: 0.5,
    many: 0.25,
  });
} finally {
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Measures all in turn, round after round, so that a busy moment of the machine hits all alike. */
async function compare(subjects: Subject[], goals: { one: number; many: number }): Promise<void> {
  const rows: Row[] = subjects.map(({ name }) => ({ name, one: [], many: [] }));
  for (const subject of subjects) for (const atOnce of [AT_ONCE, 1]) await measure(subject, atOnce, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      rows[index]?.one.push(await measure(subject, 1, MS));
      rows[index]?.many.push(await measure(subject, AT_ONCE, MS));
    }
  }
  for (const subject of subjects) await subject.close();
  const [bare, grouped, ours] = rows;
  if (!bare || !grouped || !ours) return;
  console.table(
    rows.map(({ name, one, many }) => ({
      "": name,
      "one by one /s": say(one),
      [`${AT_ONCE} at once /s`]: say(many),
      "wake ms": median(one.map(({ wakeMs }) => wakeMs)).toFixed(2),
    })),
  );
  console.log(`one by one ${ratio(ours.one, bare.one)} of the 3-transaction floor (goal ${goals.one * 100} %)`);
  console.log(
    `${AT_ONCE} at once ${ratio(ours.many, grouped.many)} of the group-commit floor (goal ${goals.many * 100} %)`,
  );
  console.log(`wake ${(wake(ours) / wake(bare)).toFixed(2)}x the floor (goal 1.5x)`);
}

function say(all: readonly Measured[]): string {
  const rates = all.map(({ perSecond }) => perSecond);
  return `${median(rates).toFixed(0)} (${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)})`;
}

/** Compared round by round: what was measured together belongs together. */
function ratio(ours: readonly Measured[], floor: readonly Measured[]): string {
  const parts = ours.map(({ perSecond }, round) => perSecond / (floor[round]?.perSecond ?? Number.NaN));
  return `${(median(parts) * 100).toFixed(0)} % (${(Math.min(...parts) * 100).toFixed(0)}–${(Math.max(...parts) * 100).toFixed(0)} %)`;
}

function wake({ one }: Row): number {
  return median(one.map(({ wakeMs }) => wakeMs));
}
