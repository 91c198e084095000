import { type ConfigFile, findConfigFiles } from "../config/config-files.ts";
import type { Config } from "../config/load.ts";
import { sayProblem } from "../config/problem.ts";
import { Refusal } from "../core/refusal.ts";
import type { Command } from "./command.ts";
import { findConfigFile } from "./paths.ts";
import { oneLine } from "./view/sanitise.ts";
import type { World } from "./process.ts";

/** Reads the files that count for a command: warns of what is unknown in them, and refuses what is wrong. */
export async function readSettings(
  world: World,
  command: Pick<Command, "isForAllProjects" | "isAboutConfig" | "isAboutWrongConfig">,
): Promise<Config> {
  const around = { ...world, userFile: findConfigFile(world) };
  const files = findConfigFiles(around).filter(({ layer }) => !command.isForAllProjects || layer !== "project");
  // Most people have no file: then neither the parser nor the schema is loaded.
  if (!files.some(({ isThere }) => isThere)) return nothingSet(files);
  const { loadConfig } = await import("../config/load.ts");
  const config = await loadConfig(around, files);
  if (!command.isAboutConfig && !command.isAboutWrongConfig) report(config, world);
  return config;
}

function nothingSet(files: readonly ConfigFile[]): Config {
  return { values: {}, origins: new Map(), warnings: [], errors: [], files };
}

function report({ warnings, errors }: Config, { stderr }: Pick<World, "stderr">): void {
  for (const warning of warnings) {
    stderr.write(`warning: ${oneLine(`${sayProblem(warning)}. ${warning.hint ?? ""}`)}\n`);
  }
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? `See all ${errors.length} problems: askd config list` : undefined;
  const hint = [first.hint, more].filter((part) => part !== undefined).join("\n  ");
  throw new Refusal("bad_input", oneLine(sayProblem(first)), hint === "" ? {} : { hint });
}
