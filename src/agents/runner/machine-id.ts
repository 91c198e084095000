import { hash, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isMachineId, newMachineId } from "../../core/run/machine.ts";
import { isCode } from "../../core/error-code.ts";

const INSTALL_FILE = "/etc/machine-id";
const RANDOM_BYTES = 3;
/** Nothing can be kept there; then nothing that is kept by machine is, either. */
const UNWRITABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"] as const;

/** What tells machines apart beside their files; tests bring their own. */
export interface Around {
  hostName: string;
  /** Names this installation of the system, where it has a name. Most containers have none. */
  install: string | undefined;
}

/**
 * The lasting id of this machine, under which its runs are kept: host names change, of containers with every start.
 * It belongs to a state directory. Installations that share one, as over a network, have one each.
 */
export function findMachine(stateDir: string, around: Around = aroundHere()): string {
  return readMachine(stateDir, around) ?? around.hostName;
}

/** The same, kept from now on: for whoever writes it into a run. */
export function keepMachine(stateDir: string, around: Around = aroundHere()): string {
  const kept = readMachine(stateDir, around);
  if (kept !== undefined) return kept;
  // Runs that were made before there were ids are kept under the name of the host.
  const isOld = hasRuns(stateDir);
  const id = isOld ? around.hostName : newMachineId(around.hostName, randomBytes(RANDOM_BYTES).toString("hex"));
  try {
    return createOnce(fileFor(stateDir, around), id) ? id : (readMachine(stateDir, around) ?? around.hostName);
  } catch (error) {
    if (UNWRITABLE.some((code) => isCode(error, code))) return around.hostName;
    throw error;
  }
}

function fileFor(stateDir: string, { install }: Around): string {
  return join(stateDir, install === undefined ? "machine" : `machine-${hash("sha256", install, "hex").slice(0, 12)}`);
}

function readMachine(stateDir: string, around: Around): string | undefined {
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

/** Makes the file with its whole text at once; false if another process was faster. */
function createOnce(file: string, id: string): boolean {
  mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}-${randomBytes(6).toString("hex")}.draft`;
  writeFileSync(draft, `${id}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function aroundHere(): Around {
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
