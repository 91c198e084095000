import { join } from "node:path";
import { type ConfigFile, findConfigFiles } from "../../../config/config-files.ts";
import { requireKey, writeValue } from "../../../config/typed-setting.ts";
import { schemaText } from "../../../config/json-schema.ts";
import { sayKey } from "../../../config/key.ts";
import { findSetting, listSettings, withoutSecrets } from "../../../config/setting-list.ts";
import { sayProblem } from "../../../config/problem.ts";
import { setInToml, unsetInToml } from "../../../config/toml-edit.ts";
import { changeConfigFile, readText } from "../../../config/write-file.ts";
import { Refusal } from "../../../core/refusal.ts";
import { atMostOne, noVerb, requireOne, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { renderFiles, renderSettings, renderValue, viewSetting } from "./config-view.ts";
import type { Context } from "../../context.ts";
import { edit, findEditor } from "../../terminal/editor.ts";
import type { Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";

const EXIT_WRONG = 2;
const FIELDS = ["key", "value", "origin", "file", "line", "exists"] as const;

const flags = {
  "show-origin": { type: "boolean", about: "Say where each value comes from" },
  user: { type: "boolean", about: "Your own file (this is the default)" },
  project: { type: "boolean", about: "The file of this project, askd.toml" },
} as const satisfies Flags;
type Given = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "config list|get|set|unset|path|edit|schema [<key>] [<value>]",
  flags,
  fields: FIELDS,
  isAboutConfig: true,
  examples: [
    "askd config list --show-origin",
    "askd config set questions.timeout 12h",
    "askd config set --project questions.on_timeout skip",
    "askd config unset questions.timeout",
  ],
  async run(args, context) {
    const [what = "list", ...rest] = args.positionals;
    const verb = Object.hasOwn(VERBS, what) ? VERBS[what] : undefined;
    if (verb) return verb(rest, args.flags, context);
    throw noVerb(args.positionals, command.usage);
  },
};

type Verb = (words: readonly string[], given: Given, context: Context) => Promise<number> | number;

const VERBS: Readonly<Record<string, Verb>> = { list, get, set, unset, path, edit: editFile, schema };

/** Shows every setting that counts here, and on stderr what is wrong with the files. */
function list(words: readonly string[], given: Given, context: Context): number {
  const key = atMostOne(words, command.usage);
  const prefix = key === undefined ? "" : sayKey(requireKey(key));
  const settings = listSettings(context.config, context.env)
    .filter((setting) => prefix === "" || setting.key === prefix || setting.key.startsWith(`${prefix}.`))
    .map(withoutSecrets);
  printResult(context, FIELDS, {
    page: () => renderSettings(settings, given["show-origin"] ? context : undefined),
    json: () => settings.map(viewSetting),
  });
  return sayProblems(context);
}

function sayProblems({ config, stderr, program }: Context): number {
  for (const problem of [...config.errors, ...config.warnings]) {
    const hint = problem.hint ? `\n  ${asTyped(oneLine(problem.hint), program)}` : "";
    stderr.write(`${problem.level}: ${oneLine(sayProblem(problem))}${hint}\n`);
  }
  return config.errors.length > 0 ? EXIT_WRONG : 0;
}

function get(words: readonly string[], given: Given, context: Context): number {
  const asked = requireKey(requireOne(words, "config get <key>"));
  const key = sayKey(asked);
  const setting = findSetting(context.config, context.env, key);
  if (!setting && listSettings(context.config, context.env).some((one) => one.key.startsWith(`${key}.`))) {
    return list(words, given, context);
  }
  if (!setting) {
    throw new Refusal("not_found", `${key} is not set`, { hint: `Set it with: askd config set ${key} <value>` });
  }
  const shown = withoutSecrets(setting);
  printResult(context, FIELDS, { page: () => `${renderValue(shown.value)}\n`, json: () => viewSetting(shown) });
  return sayProblems(context);
}

async function set(words: readonly string[], given: Given, context: Context): Promise<number> {
  const [typed, value, ...more] = words;
  if (typed === undefined || value === undefined || more.length > 0) {
    throw wrongUsage("Say a key and a value", "config set <key> <value> [--user|--project]");
  }
  const asked = requireKey(typed);
  const written = writeValue(asked, value);
  const file = chooseFile(given, context);
  requirePerson(context);
  await changeConfigFile(file, context.place.configFile, (text) => setInToml(text, asked, written));
  return sayDone(context, { key: sayKey(asked), file: file.path, origin: file.layer }, `set in ${file.path}`);
}

async function unset(words: readonly string[], given: Given, context: Context): Promise<number> {
  const asked = requireKey(requireOne(words, "config unset <key> [--user|--project]"));
  const key = sayKey(asked);
  const file = chooseFile(given, context);
  requirePerson(context);
  const done = file.isThere
    ? await changeConfigFile(file, context.place.configFile, (text) => unsetInToml(text, asked))
    : "same";
  if (done === "same")
    throw new Refusal("not_found", `${key} is not set in ${file.path}`, { hint: sayElsewhere(key, context) });
  return sayDone(context, { key, file: file.path, origin: file.layer }, `not set in ${file.path} any more`);
}

function sayElsewhere(key: string, { config }: Context): string {
  const origin = config.origins.get(key) ?? [...config.origins].find(([name]) => name.startsWith(`${key}.`))?.[1];
  if (!origin) return "See what is set: askd config list --show-origin";
  return `It is set in ${origin.file}${origin.layer === "project" ? "; add --project" : ""}`;
}

/** Says which files count, whether they are there or not. */
function path(words: readonly string[], given: Given, context: Context): number {
  if (words.length > 0) throw wrongUsage(`"${oneLine(words[0] ?? "")}" is too much`, "config path [--user|--project]");
  const files = given.user || given.project ? [chooseFile(given, context)] : filesFor(context);
  printResult(context, FIELDS, {
    page: () => (files.length === 1 ? `${files[0]?.path}\n` : renderFiles(files)),
    json: () => files.map((file) => ({ origin: file.layer, file: file.path, exists: file.isThere })),
  });
  return 0;
}

/** Opens a file in the editor; what comes back counts only if it is right. */
async function editFile(words: readonly string[], given: Given, context: Context): Promise<number> {
  if (words.length > 0) throw wrongUsage("edit takes no key", "config edit [--user|--project]");
  const file = chooseFile(given, context);
  requirePerson(context);
  const editor = findEditor(context.env);
  if (!editor)
    throw new Refusal("bad_input", "There is no editor to open", { hint: `Set EDITOR, or open ${file.path}` });
  const { FIRST_LINE } = await import("../../../config/json-schema.ts");
  const before = (await readText(file)) ?? `${FIRST_LINE}\n`;
  const after = await edit(before, editor, context.runChild, "askd.toml");
  if (after === undefined || after === before) {
    if (!context.isQuiet) context.stderr.write("Nothing was changed\n");
    return 0;
  }
  try {
    await changeConfigFile(file, context.place.configFile, () => after);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const kept = join(context.place.stateDir, "rejected.toml");
    await context.writeFile(kept, after);
    throw new Refusal(error.code, `Not taken: ${error.message}`, {
      hint: `${error.hint ? `${error.hint}. ` : ""}Your text is in ${kept}`,
      cause: error,
    });
  }
  return sayDone(context, { file: file.path, origin: file.layer }, `written to ${file.path}`);
}

function schema(words: readonly string[], _given: Given, context: Context): number {
  if (words.length > 0) throw wrongUsage("schema takes no key", "config schema");
  context.stdout.write(schemaText());
  return 0;
}

function sayDone(context: Context, done: { key?: string; file: string; origin: string }, said: string): number {
  if (context.json) printResult(context, FIELDS, { page: () => "", json: () => done });
  else if (!context.isQuiet) context.stderr.write(`✓ ${done.key ?? "settings"} ${said}\n`);
  return 0;
}

function filesFor(context: Context): ConfigFile[] {
  return findConfigFiles({ ...context, userFile: context.place.configFile });
}

function chooseFile(given: Given, context: Context): ConfigFile {
  if (given.user && given.project) throw wrongUsage("--user and --project name different files", command.usage);
  const layer = given.project ? "project" : "user";
  const file = filesFor(context).find((one) => one.layer === layer);
  if (!file) throw new Refusal("not_found", `There is no file for ${layer}`);
  return file;
}

/** What counts for all agents is not for one of them to change. */
function requirePerson({ env, runsAbove }: Context): void {
  if (!env["ASKD_RUN"] && runsAbove().length === 0) return;
  throw new Refusal("not_permitted", "An agent may not change the settings", {
    hint: "Type it in a terminal of your own",
  });
}
