import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// Every start loads this file, and most find no settings: no schemas and no parser here.

export const PROJECT_FILE = "askd.toml";
const SYSTEM_FILE = "/etc/askd/config.toml";

/** The layers of settings; the first that sets a key wins. */
export const LAYERS = ["project", "user", "system"] as const;
export type Layer = (typeof LAYERS)[number];

/** A configuration file, existing or not. */
export interface ConfigFile {
  layer: Layer;
  path: string;
  isThere: boolean;
  /** The folder that a project's file must be in, links resolved. */
  root?: string;
}

/** The inputs that decide which files are read. */
export interface ConfigSurroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  /** The directory of the user's own file. */
  userFile: string;
}

/** Finds the three configuration files, highest priority first. */
export function findConfigFiles(around: ConfigSurroundings): ConfigFile[] {
  const system = around.env["ASKD_CONFIG_SYSTEM"];
  return [
    findProjectFile(around),
    fileOf("user", around.userFile),
    fileOf("system", system ? resolve(around.cwd, system) : SYSTEM_FILE),
  ];
}

/**
 * Finds the nearest project file, up to the root of the git repository or the home folder. Elsewhere only the folder
 * itself counts: others may write above it. If there is none, returns where it would be created.
 */
function findProjectFile({ cwd, homeDir }: ConfigSurroundings): ConfigFile {
  const dirs = dirsUpTo(cwd, (dir) => dir === homeDir || isThere(join(dir, ".git")));
  const root = dirs.at(-1) ?? cwd;
  const found = dirs.find((dir) => isThere(join(dir, PROJECT_FILE)));
  const isRepository = isThere(join(root, ".git"));
  const path = join(found ?? (isRepository ? root : cwd), PROJECT_FILE);
  return { layer: "project", path, isThere: found !== undefined, root };
}

function dirsUpTo(from: string, isLast: (dir: string) => boolean) {
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

/** A dangling link counts as existing: reading it reports the problem. */
function isThere(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a folder that this user may not look into
  }
}
