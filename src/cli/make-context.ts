import { statSync } from "node:fs";
import { resolve } from "node:path";
import { findAnchorSettings } from "../config/anchor.ts";
import { withEnv } from "../config/env.ts";
import { findChannelSettings, findHooks } from "../config/reach.ts";
import { rulesOf } from "../config/rules.ts";
import { findWorkflowSettings } from "../config/workflow.ts";
import { Refusal } from "../core/refusal.ts";
import { instant } from "../core/instant.ts";
import { type ConfigFile, findConfigFiles } from "../config/config-files.ts";
import type { Config } from "../config/load.ts";
import { formatProblem } from "../core/text/file-problem.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Values } from "./flags.ts";
import type { GLOBAL_FLAGS } from "./global-flags.ts";
import { usesScreenReader } from "./terminal/screen-reader.ts";
import { type JsonChoice, parseJsonChoice } from "./json.ts";
import { type StorePaths, type StorePlace, findPaths, homeVariables, sayStore, findConfigFile } from "./paths.ts";
import { mayUseColour, styleFor } from "./terminal/terminal.ts";
import type { ProcessWorld } from "./process.ts";
import { oneLine } from "./view/sanitise.ts";

/** The context of a command: the process, seen through the global flags and the settings. */
export async function makeContext(
  flags: Values<typeof GLOBAL_FLAGS>,
  world: ProcessWorld,
  command: Pick<Command, "isForAllProjects" | "isAboutConfig" | "isAboutWrongConfig"> & { isLooking?: boolean },
): Promise<Context> {
  const cwd = flags.dir === undefined ? world.cwd : getFolder(resolve(world.cwd, flags.dir));
  const read = await readSettings({ ...world, cwd }, command);
  const config = command.isAboutConfig ? read : { ...read, values: withEnv(read.values, world.env) };
  const settings = command.isAboutConfig ? {} : config.values;
  const { store, url, profile } = flags;
  const found = findPaths({ ...world, cwd, store, url, profile, settings });
  const isOther = command.isLooking && store !== undefined && !isConfigured(found.store, { ...world, cwd, settings });
  const place = flags["read-only"] || isOther ? readOnlyPlace(found) : found;
  if (flags["read-only"] && !command.isLooking) {
    throw (await import("../store/read-only.ts")).readOnlyRefusal();
  }
  const rules = rulesOf(settings, world.user);
  const anchor = findAnchorSettings(settings, world.env);
  const channels = findChannelSettings(settings, world.env);
  // A worker also brings messages of questions that were asked with the settings of a project.
  const reach = rules.reach.length > 0 || command.isForAllProjects ? channels : undefined;
  const isAccessible = usesScreenReader(flags["ax-screen-reader"] ?? false, world.stdout.isTty, world.env);
  const hasColour = !isAccessible && !flags["no-color"] && mayUseColour(world.stdout.isTty, world.env);
  return {
    ...world,
    cwd,
    place,
    config,
    rules,
    style: styleFor(hasColour ? "on" : "off"),
    json: jsonChoiceOf(flags),
    get mayPrompt() {
      return !flags["no-input"] && !world.env["ASKD_PROMPT_DISABLED"] && world.stdin.isTty && world.stderr.isTty;
    },
    isQuiet: flags.quiet ?? false,
    isAccessible,
    host: () => world.hostIn(place.stateDir, "found"),
    keepHost: () => world.hostIn(place.stateDir, "kept"),
    now: () => instant(world.nowMs()),
    engine: async (options) => {
      if (flags.verbose) world.stderr.write(`store: ${sayStore(place.store)}\n`);
      const onAway = (text: string) => (flags.quiet ? undefined : world.stderr.write(`${text}\n`));
      const engine = await world.openEngine(place.store, rules, {
        machineDir: place.stateDir,
        anchor,
        reach: options?.runs || options?.isDelivering ? reach : undefined,
        stateDir: options?.runs ? place.stateDir : undefined,
        workflows: options?.runs ? findWorkflowSettings(settings, world.env) : undefined,
        patience: options?.waits && { ...options.waits, onAway },
      });
      const isReadOnly = await warnIfReadOnly(place.store, (text) => void (flags.quiet || world.stderr.write(text)));
      if (place.store.kind !== "server" && !options?.isReading && !isReadOnly) await engine.doDue();
      return engine;
    },
    reload: () => makeContext(flags, world, command),
    inHome: (dir) => makeContext({}, { ...world, cwd: dir, env: { ...world.env, ...homeVariables(dir) } }, command),
    serve: async (request) => {
      const { runtimeDir, stateDir } = place;
      const { listChannels } = await import("../config/channel-list.ts");
      const listed = listChannels(config.values);
      const hooks = findHooks(settings, world.env);
      const workflows = findWorkflowSettings(settings, world.env);
      const at = { store: place.store, rules, runtimeDir, stateDir, channels: listed, hooks, anchor, reach, workflows };
      return world.openServer(at, request);
    },
    openChannel: (name) => world.openChannelOf(channels, rules, name),
    findServer: () =>
      place.store.kind === "server" ? Promise.resolve(place.store.url) : world.findServer(place.runtimeDir),
  };
}

/** Says whether the store is the one that the environment and the settings name. */
function isConfigured(store: StorePlace, around: Parameters<typeof findPaths>[0]) {
  return sayStore(findPaths(around).store) === sayStore(store);
}

/** The same place, whose store is not written to. */
function readOnlyPlace(place: StorePaths): StorePaths {
  if (place.store.kind !== "server") return { ...place, store: { ...place.store, isReadOnly: true } };
  throw new Refusal("bad_input", "--read-only is for a store, and the store belongs to the server", {
    hint: "Use a token that may only read, or name the store with --store",
  });
}

/** Says whether the store can only be read, and tells the person so. */
async function warnIfReadOnly(store: StorePlace, write: (text: string) => unknown) {
  if (store.kind !== "server" && store.isReadOnly) return true; // as it was asked for
  if (store.kind !== "sqlite") return false;
  const { findReadOnly } = await import("../store/sqlite/read-only.ts");
  const part = findReadOnly(store.file);
  if (!part) return false;
  const where = part === "disk" ? "is on a read-only disk" : "cannot be written by you";
  write(`warning: ${store.file} ${where}: it can be read, but nothing can be asked or answered\n`);
  return true;
}

/** `--jq` implies `--json`. */
function jsonChoiceOf({ json, jq }: Values<typeof GLOBAL_FLAGS>): JsonChoice | undefined {
  if (json === undefined) return jq === undefined ? undefined : { show: "all" };
  return parseJsonChoice(json);
}

function getFolder(dir: string) {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return dir;
  throw new Refusal("bad_input", `There is no folder ${dir}`, { hint: "Name an existing folder: -C <dir>" });
}

/** Reads the config files for a command: warns about unknown keys and refuses wrong values. */
async function readSettings(
  world: ProcessWorld,
  command: Pick<Command, "isForAllProjects" | "isAboutConfig" | "isAboutWrongConfig">,
) {
  const around = { ...world, userFile: findConfigFile(world) };
  const files = findConfigFiles(around).filter(({ layer }) => !command.isForAllProjects || layer !== "project");
  // Without a file neither the parser nor the schema is loaded.
  if (!files.some(({ isThere }) => isThere)) return nothingSet(files);
  const { loadConfig } = await import("../config/load.ts");
  const config = await loadConfig(around, files);
  if (!command.isAboutConfig && !command.isAboutWrongConfig) report(config, world);
  return config;
}

function nothingSet(files: readonly ConfigFile[]) {
  return { values: {}, origins: new Map(), warnings: [], errors: [], files };
}

function report({ warnings, errors }: Config, { stderr }: Pick<ProcessWorld, "stderr">) {
  for (const warning of warnings) {
    stderr.write(`warning: ${oneLine(`${formatProblem(warning)}. ${warning.hint ?? ""}`)}\n`);
  }
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? `See all ${errors.length} problems: askd config list` : undefined;
  const hint = [first.hint, more].filter((part) => part !== undefined).join("\n  ");
  throw new Refusal("bad_input", oneLine(formatProblem(first)), hint === "" ? {} : { hint });
}
