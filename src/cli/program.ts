import { readFileSync, statSync } from "node:fs";
import { delimiter, join, relative, sep } from "node:path";
import { shellWord } from "../core/text/shell-word.ts";
import { commandNames } from "./command.ts";

/** How this process was started. */
export interface Start {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: NodeJS.Platform;
  /** The file of this very program. */
  bin: string;
}

/** A script that starts another file is a few lines long. */
const MOST_SHIM_BYTES = 8192;
const IN_PACKAGE = join("node_modules", ".bin");

/** What a person can type here to start this very program again. */
export function findProgram({ env, cwd, platform, bin }: Start): string {
  if (env["npm_lifecycle_event"] === "npx" || bin.includes(`${sep}_npx${sep}`)) return "npx askd";
  const dir = (env["PATH"] ?? "").split(delimiter).find((each) => each !== "" && holds(each, bin, platform));
  if (dir !== undefined) return dir.endsWith(IN_PACKAGE) ? "npx askd" : "askd";
  // npm says where the person is; its scripts run elsewhere.
  const path = relative((env["npm_lifecycle_event"] && env["INIT_CWD"]) || cwd, bin);
  if (platform === "win32") return `node ${shellWord(path)}`;
  const near = `./${path}`;
  return shellWord(path.startsWith("..") || near.length > bin.length ? bin : near);
}

/** Says whether the name of this program leads to this file from a folder of the path. */
function holds(dir: string, bin: string, platform: NodeJS.Platform): boolean {
  const inside = platform === "win32" ? join(dir, IN_PACKAGE, "..", "askd", "bin", "askd") : join(dir, "askd");
  const found = statSync(inside, { throwIfNoEntry: false });
  if (!found?.isFile()) return false;
  const own = statSync(bin, { throwIfNoEntry: false });
  if (own?.ino === found.ino && own.dev === found.dev) return true;
  // Some package managers put a script there that starts the file.
  return found.size < MOST_SHIM_BYTES && readFileSync(inside, "utf8").includes("node_modules/askd/bin/askd");
}

/** Our own words with every command as it can be typed here; foreign text does not belong into them. */
export function asTyped(text: string, program: string): string {
  if (program === "askd") return text;
  const names = [...commandNames(), "help", "-", "<", "\\["].join("|");
  return text.replace(new RegExp(`(?<![\\w./-]|npx )askd(?= (?:${names}))`, "g"), () => program);
}
