import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// Every start looks for files here, most find none: no schemas and no parser in this file.

export const PROJECT_FILE = "askd.toml";
const SYSTEM_FILE = "/etc/askd/config.toml";

/** Who wrote a file; the first one that sets a key wins. */
export const LAYERS = ["project", "user", "system"] as const;
export type Layer = (typeof LAYERS)[number];

/** A file that may set something, and whether it is there. */
export interface ConfigFile {
  layer: Layer;
  path: string;
  isThere: boolean;
  /** The folder that the file of a project may not lead out of. */
  root?: string;
}

/** The surroundings that decide which files count. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  /** Where this user's own file is. */
  userFile: string;
}

/** The three files, the strongest first. */
export function findConfigFiles(around: Surroundings): ConfigFile[] {
  const system = around.env["ASKD_CONFIG_SYSTEM"];
  return [
    findProjectFile(around),
    fileOf("user", around.userFile),
    fileOf("system", system ? resolve(around.cwd, system) : SYSTEM_FILE),
  ];
}

/**
 * The nearest file of a project, looked for up to the root of the git repository, or up to the home folder. Elsewhere
 * only the folder itself counts: above it others may write. If there is none, where one would be made.
 */
function findProjectFile({ cwd, homeDir }: Surroundings): ConfigFile {
  const dirs = dirsUpTo(cwd, (dir) => dir === homeDir || isThere(join(dir, ".git")));
  const root = dirs.at(-1) ?? cwd;
  const found = dirs.find((dir) => isThere(join(dir, PROJECT_FILE)));
  const isRepository = isThere(join(root, ".git"));
  const path = join(found ?? (isRepository ? root : cwd), PROJECT_FILE);
  return { layer: "project", path, isThere: found !== undefined, root };
}

function dirsUpTo(from: string, isLast: (dir: string) => boolean): string[] {
  const dirs: string[] = [];
  for (let dir = from; ; dir = dirname(dir)) {
    dirs.push(dir);
    if (isLast(dir)) return dirs;
    if (dirname(dir) === dir) return [from];
  }
}

function fileOf(layer: Layer, path: string): ConfigFile {
  return { layer, path, isThere: isThere(path) };
}

/** A link that leads nowhere is there, too: reading it says what is wrong. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a folder that this user may not look into
  }
}
