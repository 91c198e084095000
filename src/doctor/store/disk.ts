import { open, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { errorCodeOf } from "../../core/error-code.ts";
import { existsSync } from "node:fs";
import { formatDuration } from "../../core/text/duration.ts";
import { instant, msBetween } from "../../core/instant.ts";
import { findLastBackup } from "../../store/sqlite/backup.ts";

const MB = 1000 * 1000;
/** With less free space a store soon cannot store an answer. */
const LEAST_BYTES = 16 * MB;
const FEW_BYTES = 500 * MB;
/** The size of the trial write: about a commit. */
const TRIAL_BYTES = 64 * 1024;

/** Checks that the store's disk has room, by writing to it unless the store is to be read only. */
export async function checkDisk({ store, stateDir }: Pick<DoctorContext, "store" | "stateDir">): Promise<Finding[]> {
  const wanted = store.kind === "sqlite" ? dirname(store.file) : stateDir;
  const dir = await findAbove(wanted);
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const isOnlyRead = store.kind !== "server" && store.isReadOnly;
  const failure = dir === wanted && !isOnlyRead ? await tryToWrite(dir) : undefined;
  const left = `${formatBytes(free)} free`;
  if (failure === "ENOSPC" || failure === "EDQUOT" || free < LEAST_BYTES) {
    const text = `the disk of ${dir} is full (${left}): no question and no answer can be kept`;
    return [
      { code: "disk_full", area: "store", level: "problem", text, fix: "free some space; askd continues by itself" },
    ];
  }
  if (failure !== undefined) {
    const text = `${dir} cannot be written (${failure}): no question and no answer can be kept`;
    const fix = "make it writable, or name another place with --store or ASKD_HOME";
    return [{ code: "store_read_only", area: "store", level: "problem", text, fix }];
  }
  if (free < FEW_BYTES) {
    const text = `only ${left} on the disk of ${dir}`;
    return [{ code: "disk_low", area: "store", level: "warning", text, fix: "free some space" }];
  }
  return [{ code: "disk", area: "store", level: "ok", text: isOnlyRead ? left : `writable, ${left}` }];
}

/** The folder itself, or its nearest existing ancestor. */
async function findAbove(dir: string): Promise<string> {
  const found = await stat(dir).catch(() => undefined);
  return found?.isDirectory() || dirname(dir) === dir ? dir : findAbove(dirname(dir));
}

/** The error code of a failed trial write, if it fails. */
async function tryToWrite(dir: string): Promise<string | undefined> {
  const file = join(dir, `askd.trial-${process.pid}`);
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.write(Buffer.alloc(TRIAL_BYTES));
      await handle.sync();
    } finally {
      await handle.close();
    }
    return undefined;
  } catch (error) {
    return errorCodeOf(error);
  } finally {
    await rm(file, { force: true }).catch(() => undefined); // on a read-only disk there is nothing to take away
  }
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;
const STEP = 1000;

/** Formats a size with its largest unit: `53 GB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const count = bytes / STEP ** power;
  return `${count >= 10 || power === 0 ? Math.round(count) : count.toFixed(1)} ${UNITS[power]}`;
}

/** Checks the last recorded backup. */
export async function checkBackup({ store, nowMs }: Pick<DoctorContext, "store" | "nowMs">): Promise<Finding[]> {
  const backup = store.kind === "sqlite" ? await findLastBackup(store.file) : undefined;
  if (!backup) return [];
  const age = `${formatDuration(Math.max(0, msBetween(backup.at, instant(nowMs()))))} ago`;
  if (existsSync(backup.file)) return [{ code: "backup", area: "store", level: "ok", text: `last backup ${age}` }];
  return [
    {
      code: "backup_gone",
      area: "store",
      level: "warning",
      fix: "askd backup",
      text: `the last backup, made ${age}, is no longer at ${backup.file}`,
    },
  ];
}
