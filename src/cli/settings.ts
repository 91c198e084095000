import { type ConfigFile, findConfigFiles } from "../config/config-files.ts";
import type { Config } from "../config/load.ts";
import { formatProblem } from "../config/problem.ts";
import { Refusal } from "../core/refusal.ts";
import type { Command } from "./command.ts";
import { findConfigFile } from "./paths.ts";
import { oneLine } from "./view/sanitise.ts";
import type { ProcessWorld } from "./process.ts";

/** Reads the config files for a command: warns about unknown keys and refuses wrong values. */
export async function readSettings(
  world: ProcessWorld,
  command: Pick<Command, "isForAllProjects" | "isAboutConfig" | "isAboutWrongConfig">,
): Promise<Config> {
  const around = { ...world, userFile: findConfigFile(world) };
  const files = findConfigFiles(around).filter(({ layer }) => !command.isForAllProjects || layer !== "project");
  // Without a file neither the parser nor the schema is loaded.
  if (!files.some(({ isThere }) => isThere)) return nothingSet(files);
  const { loadConfig } = await import("../config/load.ts");
  const config = await loadConfig(around, files);
  if (!command.isAboutConfig && !command.isAboutWrongConfig) report(config, world);
  return config;
}

function nothingSet(files: readonly ConfigFile[]): Config {
  return { values: {}, origins: new Map(), warnings: [], errors: [], files };
}

function report({ warnings, errors }: Config, { stderr }: Pick<ProcessWorld, "stderr">): void {
  for (const warning of warnings) {
    stderr.write(`warning: ${oneLine(`${formatProblem(warning)}. ${warning.hint ?? ""}`)}\n`);
  }
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? `See all ${errors.length} problems: askd config list` : undefined;
  const hint = [first.hint, more].filter((part) => part !== undefined).join("\n  ");
  throw new Refusal("bad_input", oneLine(formatProblem(first)), hint === "" ? {} : { hint });
}
