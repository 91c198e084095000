import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  statfsSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasErrorCode } from "../../core/error-code.ts";
import { Refusal } from "../../core/refusal.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const ROOT = 0;
/** SQLite takes 512, and puts "-journal" behind it. */
const MOST_PATH_BYTES = 500;
const MOST_NAME_BYTES = 255;
const SHOWN_CHARS = 60;
const USERS = "/etc/passwd";

/** Locks and shared memory do not work over these: NFS, SMB, CIFS, SMB2, AFS, Ceph. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x00c36400]);

export interface StoreFiles {
  database: string;
  wake: string;
  /** A log exists: a process has the store open, or was killed. */
  hasLog: boolean;
}

/** Creates the directory and the files beside the store, readable by their owner only. */
export function prepareFiles(database: string): StoreFiles {
  const directory = dirname(database);
  const wake = join(directory, "askd.wake");
  requireOwnFolder(directory);
  try {
    makeDirectory(directory);
    makePrivate(directory, [basename(database), "askd."]);
    if (isNetworkFileSystem(statfsSync(directory).type)) throw networkRefusal(directory);
    createEmptyFile(wake);
  } catch (error) {
    throw explainUnusable(error, directory);
  }
  const log = statSync(`${database}-wal`, { throwIfNoEntry: false });
  return { database, wake, hasLog: log !== undefined && log.size > 0 };
}

/** Refuses a path that SQLite or the system cannot open; they would only say that they cannot. */
export function requireShortPath(path: string): void {
  const isLong = path.split("/").some((name) => Buffer.byteLength(name) > MOST_NAME_BYTES);
  if (isLong || Buffer.byteLength(path) > MOST_PATH_BYTES) throw longPath(path);
}

function longPath(path: string) {
  const bytes = Buffer.byteLength(path);
  const shown = `${path.slice(0, SHOWN_CHARS)}…`;
  return new Refusal("store_unusable", `The path of the store is too long (${bytes} bytes): ${shown}`, {
    hint: `Use one of at most ${MOST_PATH_BYTES} bytes, and ${MOST_NAME_BYTES} for each name: --store sqlite:<path> or ASKD_HOME`,
  });
}

/** Refuses the folder of another user, in which nothing can be kept. */
export function requireOwnFolder(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  const user = process.getuid?.();
  if (!found || user === undefined || user === ROOT || found.uid === user) return;
  try {
    accessSync(directory, constants.W_OK);
  } catch (error) {
    if (!hasErrorCode(error, "EROFS")) throw foreignFolder(directory, found.uid); // a read-only disk can be read
  }
}

/** Removes permissions of others that an unusual umask or an earlier copy left. */
export function restrictPermissions(files: StoreFiles): void {
  for (const path of [files.database, `${files.database}-wal`, `${files.database}-shm`, files.wake]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && (found.mode & OTHERS) !== 0) chmodSync(path, FILE_MODE);
  }
}

export function isNetworkFileSystem(type: number): boolean {
  return NETWORK_FILE_SYSTEMS.has(type >>> 0);
}

/** One by one: Node's recursive mkdir never ends below /proc, where nothing can be created. */
function makeDirectory(path: string) {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (!existsSync(path)) throw error; // else another process was faster
  }
}

function makePrivate(directory: string, ours: readonly string[]) {
  const { mode, uid } = statSync(directory);
  if ((mode & OTHERS) === 0 || (mode & STICKY) !== 0 || process.getuid === undefined) return;
  const isOurs = uid === process.getuid();
  if (!isOurs) throw foreignFolder(directory, uid);
  const isOnlyOurs = () => readdirSync(directory).every((name) => ours.some((our) => name.startsWith(our)));
  if (isOnlyOurs()) return chmodSync(directory, DIRECTORY_MODE);
  // A directory with other files in it, such as a project, keeps its permissions; our files are private.
  if ((mode & OTHERS_WRITE) === 0) return;
  throw new Refusal("store_unusable", `Other users could change the store in ${directory}.`, {
    hint: `chmod 700 ${directory}`,
  });
}

/** Creates an empty file for its owner only, if there is none. */
// A file that exists is never opened here: closing any handle of it would drop the locks this process has on it.
export function createEmptyFile(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, "ax", FILE_MODE));
  } catch (error) {
    if (!existsSync(path)) throw error; // else another process was faster
  }
}

function foreignFolder(directory: string, owner: number) {
  const you = process.getuid?.() ?? ROOT;
  return new Refusal("store_unusable", `${directory} belongs to ${nameOf(owner)}, and you are ${nameOf(you)}.`, {
    hint: "Use a store of your own (--store or ASKD_HOME), or the server of its owner: askd login, ASKD_URL.",
  });
}

/** The name of a user of this machine, or the number. */
function nameOf(user: number) {
  const users = existsSync(USERS) ? readFileSync(USERS, "utf8") : "";
  return (
    users
      .split("\n")
      .find((line) => line.split(":")[2] === String(user))
      ?.split(":")[0] ?? `user ${user}`
  );
}

function networkRefusal(directory: string) {
  return new Refusal("store_unusable", `${directory} is on a network file system, where a store is not safe.`, {
    hint: "Use a local disk, or PostgreSQL: --store postgres://…",
  });
}

/** Turns a file system error into a refusal that names the directory; returns any other error unchanged. */
export function explainUnusable(error: unknown, directory: string): unknown {
  if (error instanceof Refusal || !(error instanceof Error) || !("code" in error)) return error;
  return new Refusal("store_unusable", `The store cannot be made in ${directory}: ${String(error.code)}.`, {
    hint: "Make the directory writable, or name another place with --store or ASKD_HOME.",
    cause: error,
  });
}
