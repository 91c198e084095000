import { open, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Finding } from "../finding.ts";
import type { Patient } from "../doctor-context.ts";
import { sayCode } from "../../core/error-code.ts";
import { sayBytes } from "../size.ts";

const MB = 1000 * 1000;
/** With less than this a store soon cannot take an answer. */
const LEAST_BYTES = 16 * MB;
const FEW_BYTES = 500 * MB;
/** What is written as a trial: about a commit. */
const TRIAL_BYTES = 64 * 1024;

/** Whether the disk of the store has room, shown by writing to it. */
export async function checkDisk({ store, stateDir }: Pick<Patient, "store" | "stateDir">): Promise<Finding[]> {
  const wanted = store.kind === "sqlite" ? dirname(store.file) : stateDir;
  const dir = await findAbove(wanted);
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const failure = dir === wanted ? await tryToWrite(dir) : undefined;
  const left = `${sayBytes(free)} free`;
  if (failure === "ENOSPC" || failure === "EDQUOT" || free < LEAST_BYTES) {
    const text = `the disk of ${dir} is full (${left}): no question and no answer can be kept`;
    return [
      { code: "disk_full", area: "store", level: "problem", text, fix: "free some space; askd goes on by itself" },
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
  return [{ code: "disk", area: "store", level: "ok", text: `writable, ${left}` }];
}

/** The folder itself, or the nearest one above it that is there. */
async function findAbove(dir: string): Promise<string> {
  const found = await stat(dir).catch(() => undefined);
  return found?.isDirectory() || dirname(dir) === dir ? dir : findAbove(dirname(dir));
}

/** The system's word for why nothing can be written there, if so. */
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
    return sayCode(error);
  } finally {
    await rm(file, { force: true }).catch(() => undefined); // on a read-only disk there is nothing to take away
  }
}
