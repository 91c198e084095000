import { hash, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isMachineId, newMachineId } from "../../core/run/machine.ts";
import { hasErrorCode } from "../../core/error-code.ts";

const INSTALL_FILE = "/etc/machine-id";
const RANDOM_BYTES = 3;
/** Errors of a directory that cannot be written; then nothing is stored by machine either. */
const UNWRITABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"] as const;

/** The identity of the installation; tests bring their own. */
export interface MachineSurroundings {
  hostName: string;
  /** The id of this installation, if it has one. Most containers have none. */
  install: string | undefined;
}

/**
 * The permanent id of this machine, which its runs are stored under: host names change, in containers with every start.
 * It belongs to a state directory. Installations that share one, such as over a network, have one id each.
 */
export function findMachineId(stateDir: string, around: MachineSurroundings = thisMachine()): string {
  return readMachine(stateDir, around) ?? around.hostName;
}

/** The machine id, created if missing: for runs that store it. */
export function ensureMachineId(stateDir: string, around: MachineSurroundings = thisMachine()): string {
  const kept = readMachine(stateDir, around);
  if (kept !== undefined) return kept;
  // Runs from before machine ids are stored under the host name.
  const isOld = hasRuns(stateDir);
  const id = isOld ? around.hostName : newMachineId(around.hostName, randomBytes(RANDOM_BYTES).toString("hex"));
  try {
    return createOnce(fileFor(stateDir, around), id) ? id : (readMachine(stateDir, around) ?? around.hostName);
  } catch (error) {
    if (UNWRITABLE.some((code) => hasErrorCode(error, code))) return around.hostName;
    throw error;
  }
}

function fileFor(stateDir: string, { install }: MachineSurroundings): string {
  return join(stateDir, install === undefined ? "machine" : `machine-${hash("sha256", install, "hex").slice(0, 12)}`);
}

function readMachine(stateDir: string, around: MachineSurroundings): string | undefined {
  const text = readText(fileFor(stateDir, around))?.trim();
  return text !== undefined && isMachineId(text) ? text : undefined;
}

function hasRuns(stateDir: string): boolean {
  try {
    return readdirSync(join(stateDir, "runs")).length > 0;
  } catch {
    return false; // there is no such directory yet
  }
}

/** Creates the file with its whole text at once; false if another process was faster. */
function createOnce(file: string, id: string): boolean {
  mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}-${randomBytes(6).toString("hex")}.draft`;
  writeFileSync(draft, `${id}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function thisMachine(): MachineSurroundings {
  const install = readText(INSTALL_FILE)?.trim();
  return {
    hostName: hostname(),
    install: install !== undefined && /^[0-9a-f]{32}$/.test(install) ? install : undefined,
  };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // there is none, or it is not for us
  }
}
