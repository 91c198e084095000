import { chmod, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { serverFiles } from "../../server/local-token.ts";
import type { Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

interface ExposedFile {
  path: string;
  /** The required mode; undefined if it is not ours to change. */
  mode: number | undefined;
}

type PermissionContext = Pick<DoctorContext, "store" | "stateDir" | "runtimeDir" | "platform">;

/** Checks that other users of this machine cannot read questions and answers. */
export async function checkPrivate(at: PermissionContext): Promise<Finding[]> {
  if (at.platform === "win32") return []; // Windows keeps a user's folders from other users by itself
  const open = await Promise.all([...listPlaces(at)].map(([path, ours]) => findExposed(path, ours)));
  return open.filter((found) => found.length > 0).map(describeExposed);
}

function describeExposed(open: readonly ExposedFile[]): Finding {
  const [first, ...rest] = open;
  const more = rest.length > 0 ? ` (and ${rest.map(({ path }) => basename(path)).join(", ")})` : "";
  const canRepair = open.every(({ mode }) => mode !== undefined);
  const fixes = open.map(({ path, mode }) =>
    mode === undefined ? `chmod go-w ${path}, or have its owner do so` : `chmod ${mode.toString(8)} ${path}`,
  );
  return {
    code: "store_open",
    area: "store",
    level: "problem",
    text: `${first?.path}${more} is open to other users of this machine: questions can hold code and secrets`,
    fix: fixes.join(" && "),
    repair: canRepair ? () => restrictAll(open) : undefined,
  };
}

async function restrictAll(open: readonly ExposedFile[]): Promise<void> {
  for (const { path, mode } of open) if (mode !== undefined) await chmod(path, mode);
}

/** The folders of askd, each with the name prefixes of its files. */
function* listPlaces({ store, stateDir, runtimeDir }: PermissionContext) {
  if (store.kind === "sqlite") yield [dirname(store.file), [basename(store.file), "askd.", "backups"]] as const;
  yield [dirname(serverFiles(runtimeDir).token), [""]] as const;
  yield [join(stateDir, "runs"), []] as const;
}

async function findExposed(dir: string, ours: readonly string[]): Promise<ExposedFile[]> {
  const found = await findMode(dir);
  if (!found) return [];
  const names = await readdir(dir);
  const isOurs = (name: string): boolean => ours.some((start) => name.startsWith(start));
  const files = await Promise.all(
    names
      .filter(isOurs)
      .map((name) => join(dir, name))
      .map(findExposedFile),
  );
  const isOnlyOurs = ours.length === 0 || names.every(isOurs);
  // A folder with other files in it, such as a project, keeps its permissions: our files in it are private.
  const isOpen = (found.mode & (isOnlyOurs ? OTHERS : OTHERS_WRITE)) !== 0 && (found.mode & STICKY) === 0;
  const mode = isOnlyOurs && found.isOwn ? DIRECTORY_MODE : undefined;
  return [...(isOpen ? [{ path: dir, mode }] : []), ...files.flat()];
}

async function findExposedFile(path: string): Promise<ExposedFile[]> {
  const found = await findMode(path);
  // An empty file, such as a lock, reveals nothing.
  if (!found?.bytes || (found.mode & OTHERS) === 0) return [];
  return [{ path, mode: found.isOwn ? FILE_MODE : undefined }];
}

async function findMode(path: string): Promise<{ mode: number; isOwn: boolean; bytes: number } | undefined> {
  const found = await stat(path).catch(() => undefined); // it is not there, or went meanwhile
  return found && { mode: found.mode, isOwn: found.uid === process.getuid?.(), bytes: found.isFile() ? found.size : 0 };
}
