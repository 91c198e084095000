import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describeFileUsers, listFileUsers } from "../../store/sqlite/file-users.ts";
import type { DoctorContext } from "../doctor-context.ts";
import type { Finding } from "../finding.ts";
import { formatBytes } from "./disk.ts";

/** Four times the size at which a log begins anew if nobody reads an old state. */
const LARGE_BYTES = 64 * 1024 * 1024;
/** A process that still has the lock after this time reads for long, and not just now. */
const AGAIN_MS = 250;
const LOCKS = "/proc/locks";
/** The bytes of the log's index that readers lock, see https://sqlite.org/walformat.html */
const FIRST_READ_LOCK = 123;
const LAST_READ_LOCK = 127;

/** Checks that the log of a store is not kept from beginning anew by a process that reads an old state. */
export async function checkLog(
  { store }: Pick<DoctorContext, "store">,
  { largeBytes = LARGE_BYTES }: { largeBytes?: number } = {},
): Promise<Finding[]> {
  if (store.kind !== "sqlite") return [];
  if (!existsSync(`${store.file}-wal`)) return [];
  const log = statSync(`${store.file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size < largeBytes) return [];
  const before = listReaders(store.file);
  if (before.size > 0) await sleep(AGAIN_MS);
  const readers = [...listReaders(store.file)].filter((pid) => before.has(pid));
  if (readers.length === 0) return [];
  const users = listFileUsers(store.file).filter(({ pid }) => readers.includes(pid));
  const named = users.length > 0 ? describeFileUsers(users) : readers.map((pid) => `process ${pid}`).join(", ");
  return [
    {
      code: "log_held",
      area: "store",
      level: "warning",
      text: `the log of the store has grown to ${formatBytes(log.size)}: ${named} has been reading an old state of it`,
      fix: `let it end, or end it: kill ${readers.join(" ")}`,
    },
  ];
}

/** The processes that read the store at this moment; none where the system does not tell. */
function listReaders(database: string): Set<number> {
  const index = statSync(`${database}-shm`, { throwIfNoEntry: false });
  const lines = index === undefined ? [] : readLocks();
  const found = lines.flatMap((line) => {
    const [, , , , pid, place = "", first] = line.trim().split(/\s+/);
    const isIndex = Number(place.split(":").at(-1)) === index?.ino;
    const isRead = Number(first) >= FIRST_READ_LOCK && Number(first) <= LAST_READ_LOCK;
    return isIndex && isRead && Number(pid) !== process.pid ? [Number(pid)] : [];
  });
  return new Set(found);
}

function readLocks() {
  try {
    return readFileSync(LOCKS, "utf8").split("\n");
  } catch {
    return []; // not Linux
  }
}
