import { readFileSync, statSync } from "node:fs";
import { delimiter, join, relative, sep } from "node:path";
import { quoteShellWord } from "../core/text/shell-word.ts";
import { commandNames } from "./command.ts";

/** How this process was started. */
export interface Start {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: NodeJS.Platform;
  /** The file of this very program. */
  bin: string;
}

/** Scripts that only start another file are short. */
const MOST_SHIM_BYTES = 8192;
const IN_PACKAGE = join("node_modules", ".bin");

/** The command that a person can type here to start this program. */
export function findProgram({ env, cwd, platform, bin }: Start): string {
  if (env["npm_lifecycle_event"] === "npx" || bin.includes(`${sep}_npx${sep}`)) return "npx askd";
  const dir = (env["PATH"] ?? "").split(delimiter).find((each) => each !== "" && holds(each, bin, platform));
  if (dir !== undefined) return dir.endsWith(IN_PACKAGE) ? "npx askd" : "askd";
  // npm names the person's folder; its scripts run elsewhere.
  const path = relative((env["npm_lifecycle_event"] && env["INIT_CWD"]) || cwd, bin);
  if (platform === "win32") return `node ${quoteShellWord(path)}`;
  const near = `./${path}`;
  return quoteShellWord(path.startsWith("..") || near.length > bin.length ? bin : near);
}

/** Says whether a folder of PATH has this program under its name; one that cannot be read does not. */
function holds(dir: string, bin: string, platform: NodeJS.Platform) {
  try {
    return hasProgram(dir, bin, platform);
  } catch {
    return false;
  }
}

function hasProgram(dir: string, bin: string, platform: NodeJS.Platform) {
  const inside = platform === "win32" ? join(dir, IN_PACKAGE, "..", "askd", "bin", "askd") : join(dir, "askd");
  const found = statSync(inside, { throwIfNoEntry: false });
  if (!found?.isFile()) return false;
  const own = statSync(bin, { throwIfNoEntry: false });
  if (own?.ino === found.ino && own.dev === found.dev) return true;
  // Some package managers install a script that starts the file.
  return found.size < MOST_SHIM_BYTES && readFileSync(inside, "utf8").includes("node_modules/askd/bin/askd");
}

/** Replaces `askd` in our own texts by what a person types here. Never pass foreign text. */
export function asTyped(text: string, program: string): string {
  if (program === "askd") return text;
  const names = [...commandNames(), "help", "--?\\w", "<", "\\["].join("|");
  return text.replace(new RegExp(`(?<![\\w./-]|npx )askd(?= (?:${names}))`, "g"), () => program);
}
