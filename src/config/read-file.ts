import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import type { ConfigFile } from "./config-files.ts";
import { errorCodeOf } from "../core/error-code.ts";
import type { ConfigProblem } from "./config-problem.ts";

const MOST_BYTES = 256 * 1024;
const OTHERS_WRITE = 0o002;

/** The text of a file, or why it is rejected. */
export type ReadText = { text: string } | { problem: ConfigProblem };

/** Reads a configuration file: a regular file, not too large, not writable by others, and inside its project. */
export async function readConfigFile(file: ConfigFile): Promise<ReadText> {
  try {
    const outside = await findWayOut(file);
    if (outside) return refuse(file, "leads out of its project by a link", "Put a file there instead of the link");
    // Opening a pipe would block until it has a writer.
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      const { size, mode } = found;
      if (!found.isFile()) return refuse(file, "is not a file", "Remove it, or write the settings into a file");
      if (size > MOST_BYTES)
        return refuse(file, `has ${size} bytes; at most ${MOST_BYTES} are read`, "Make it smaller");
      if (file.layer !== "project" && isShared(mode)) {
        return refuse(file, "can be changed by everybody on this machine", `Type: chmod o-w '${file.path}'`);
      }
      return decode(file, await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    return refuse(file, `cannot be read (${errorCodeOf(error)})`, "Make it readable for you, or remove it");
  }
}

async function findWayOut({ path, root }: ConfigFile): Promise<boolean> {
  if (root === undefined) return false;
  const way = relative(await realpath(root), await realpath(path));
  return way === ".." || way.startsWith("../") || way.startsWith("..\\") || isAbsolute(way);
}

/** On systems without such permissions, such as Windows, every file looks writable by all. */
function isShared(mode: number) {
  return process.getuid !== undefined && (mode & OTHERS_WRITE) !== 0;
}

function decode(file: ConfigFile, bytes: Uint8Array): ReadText {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return refuse(file, "is not UTF-8 text", "Save it as UTF-8");
  }
}

function refuse({ path }: ConfigFile, message: string, hint: string): { problem: ConfigProblem } {
  return { problem: { level: "error", source: path, message, hint } };
}
