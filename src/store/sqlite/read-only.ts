import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { hasErrorCode } from "../../core/error-code.ts";

/** The part of an existing store that cannot be written. */
export type ReadOnlyPart = "disk" | "folder" | "file";

/** Finds out why an existing store cannot be written: its log and index need a writable directory too. */
export function findReadOnly(database: string): ReadOnlyPart | undefined {
  if (!existsSync(database)) return undefined;
  const folder = findUnwritable(dirname(database));
  if (folder) return folder === "disk" ? "disk" : "folder";
  return findUnwritable(database);
}

function findUnwritable(path: string): "disk" | "file" | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return hasErrorCode(error, "EROFS") ? "disk" : "file";
  }
}
