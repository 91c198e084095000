import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { Refusal } from "../core/refusal.ts";

const MOST_BYTES = 64 * 1024;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/** The place of a secret: a variable or a file, never a setting. */
export interface SecretPlace {
  variable: string | undefined;
  file: string | undefined;
  /** The setting that names it. */
  key: string;
}

/** Reads a secret; undefined if no place is named. */
export function readSecret(
  { variable, file, key }: SecretPlace,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (variable !== undefined) {
    const value = env[variable];
    if (value) return value;
    throw new Refusal("sign_in", `The variable ${variable}, which ${key} names, is not set`, {
      hint: `Type: export ${variable}=…`,
    });
  }
  return file === undefined ? undefined : readFile(file, key);
}

function readFile(file: string, key: string) {
  let handle;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new Refusal("sign_in", `The file ${file}, which ${key} names, cannot be read`, { cause });
  }
  try {
    const found = fstatSync(handle);
    if (!found.isFile() || found.size > MOST_BYTES) throw new Refusal("sign_in", `${file} does not hold a secret`);
    if (isLoose(found)) {
      throw new Refusal("not_permitted", `Others can read ${file}, which holds a secret`, {
        hint: `Type: chmod 600 '${file}'`,
      });
    }
    return readFileSync(handle, "utf8").trim();
  } finally {
    closeSync(handle);
  }
}

/** Secrets mounted into a container belong to root and may be readable by all; a file of this user may not. */
function isLoose({ mode, uid }: { mode: number; uid: number }) {
  if (process.getuid === undefined) return false;
  return (mode & OTHERS_WRITE) !== 0 || (uid === process.getuid() && (mode & OTHERS) !== 0);
}
