import { join } from "node:path";
import { type ConfigFile, findConfigFiles } from "../../../config/config-files.ts";
import { requireKey, writeValue } from "../../../config/typed-setting.ts";
import { schemaText } from "../../../config/json-schema.ts";
import { formatKey } from "../../../config/key.ts";
import { findSetting, listSettings, withoutSecretValue, type Setting } from "../../../config/setting-list.ts";
import { formatProblem } from "../../../core/text/file-problem.ts";
import { setKey, unsetKey } from "../../../config/edit-key.ts";
import { changeConfigFile, findConfigText } from "../../../config/write-file.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { requirePerson } from "../../actor.ts";
import { optionalArgument, unknownVerb, requireOneArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { edit, findEditor } from "../../terminal/editor.ts";
import type { Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["key", "value", "origin", "file", "line", "exists"] as const;

/** The verbs that write a config file. */
const CHANGES: ReadonlySet<string> = new Set(["set", "unset", "edit"]);

const flags = {
  "show-origin": { type: "boolean", about: "Show where each value comes from" },
  user: { type: "boolean", about: "Use your own config file (default)" },
  project: { type: "boolean", about: "Use the project's config file, askd.toml" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "config list|get|set|unset|path|edit|schema [<key>] [<value>]",
  flags,
  fields: FIELDS,
  isAboutConfig: true,
  isLooking: ({ positionals: [what = "list"] }) => !CHANGES.has(what),
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
    throw unknownVerb(args.positionals, command.usage);
  },
};

type Verb = (words: readonly string[], given: FlagValues, context: Context) => Promise<number> | number;

const VERBS: Readonly<Record<string, Verb>> = { list, get, set, unset, path, edit: editFile, schema };

/** Prints all effective settings, and on stderr the problems of the files. */
function list(words: readonly string[], given: FlagValues, context: Context) {
  const key = optionalArgument(words, command.usage);
  const prefix = key === undefined ? "" : formatKey(requireKey(key));
  const settings = listSettings(context.config, context.env)
    .filter((setting) => prefix === "" || setting.key === prefix || setting.key.startsWith(`${prefix}.`))
    .map(withoutSecretValue);
  printResult(context, FIELDS, {
    page: () => renderSettings(settings, given["show-origin"] ? context : undefined),
    json: () => settings.map(viewSetting),
  });
  return sayProblems(context);
}

function sayProblems({ config, stderr, program }: Context) {
  for (const problem of [...config.errors, ...config.warnings]) {
    const hint = problem.hint ? `\n  ${asTyped(oneLine(problem.hint), program)}` : "";
    stderr.write(`${problem.level}: ${oneLine(formatProblem(problem))}${hint}\n`);
  }
  return config.errors.length > 0 ? EXIT_CODE.usage : 0;
}

function get(words: readonly string[], given: FlagValues, context: Context) {
  const asked = requireKey(requireOneArgument(words, "config get <key>"));
  const key = formatKey(asked);
  const setting = findSetting(context.config, context.env, key);
  if (!setting && listSettings(context.config, context.env).some((one) => one.key.startsWith(`${key}.`))) {
    return list(words, given, context);
  }
  if (!setting) {
    throw new Refusal("not_found", `${key} is not set`, { hint: `Set it with: askd config set ${key} <value>` });
  }
  const shown = withoutSecretValue(setting);
  printResult(context, FIELDS, { page: () => `${renderValue(shown.value)}\n`, json: () => viewSetting(shown) });
  return sayProblems(context);
}

async function set(words: readonly string[], given: FlagValues, context: Context) {
  const [typed, value, ...more] = words;
  if (typed === undefined || value === undefined || more.length > 0) {
    throw wrongUsage("A key and a value are missing", "config set <key> <value> [--user|--project]");
  }
  const asked = requireKey(typed);
  const written = writeValue(asked, value);
  const file = chooseFile(given, context);
  await requirePerson("change the settings", context);
  await changeConfigFile(file, context.place.configFile, (text) => setKey(text, asked, written));
  return sayDone(context, { key: formatKey(asked), file: file.path, origin: file.layer }, `set in ${file.path}`);
}

/** Sets several keys of the user's file at once. */
export async function setUserSettings(
  pairs: ReadonlyArray<readonly [key: string, value: string]>,
  context: Context,
): Promise<void> {
  await requirePerson("change the settings", context);
  const written = pairs.map(([key, value]) => ({ key: requireKey(key), value }));
  await changeConfigFile(chooseFile({ user: true }, context), context.place.configFile, (text) =>
    written.reduce((before, { key, value }) => setKey(before, key, writeValue(key, value)), text),
  );
}

async function unset(words: readonly string[], given: FlagValues, context: Context) {
  const asked = requireKey(requireOneArgument(words, "config unset <key> [--user|--project]"));
  const key = formatKey(asked);
  const file = chooseFile(given, context);
  await requirePerson("change the settings", context);
  const done = file.isThere
    ? await changeConfigFile(file, context.place.configFile, (text) => unsetKey(text, asked))
    : "same";
  if (done === "same")
    throw new Refusal("not_found", `${key} is not set in ${file.path}`, { hint: sayElsewhere(key, context) });
  return sayDone(context, { key, file: file.path, origin: file.layer }, `removed from ${file.path}`);
}

function sayElsewhere(key: string, { config }: Context) {
  const origin = config.origins.get(key) ?? [...config.origins].find(([name]) => name.startsWith(`${key}.`))?.[1];
  if (!origin) return "See what is set: askd config list --show-origin";
  return `It is set in ${origin.file}${origin.layer === "project" ? "; add --project" : ""}`;
}

/** Prints the config files, whether they exist or not. */
function path(words: readonly string[], given: FlagValues, context: Context) {
  if (words.length > 0)
    throw wrongUsage(`Unexpected argument "${oneLine(words[0] ?? "")}"`, "config path [--user|--project]");
  const files = given.user || given.project ? [chooseFile(given, context)] : filesFor(context);
  printResult(context, FIELDS, {
    page: () => (files.length === 1 ? `${files[0]?.path}\n` : renderFiles(files)),
    json: () => files.map((file) => ({ origin: file.layer, file: file.path, exists: file.isThere })),
  });
  return 0;
}

/** Opens a config file in the editor; saves it only if it is valid. */
async function editFile(words: readonly string[], given: FlagValues, context: Context) {
  if (words.length > 0) throw wrongUsage("edit takes no key", "config edit [--user|--project]");
  const file = chooseFile(given, context);
  await requirePerson("change the settings", context);
  const editor = findEditor(context.env);
  if (!editor) throw new Refusal("bad_input", "No editor is set", { hint: `Set EDITOR, or open ${file.path}` });
  const { FIRST_LINE } = await import("../../../config/json-schema.ts");
  const before = (await findConfigText(file)) ?? `${FIRST_LINE}\n`;
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
    throw new Refusal(error.code, `Not saved: ${error.message}`, {
      hint: `${error.hint ? `${error.hint}. ` : ""}Your text is in ${kept}`,
      cause: error,
    });
  }
  return sayDone(context, { file: file.path, origin: file.layer }, `written to ${file.path}`);
}

function schema(words: readonly string[], _given: FlagValues, context: Context) {
  if (words.length > 0) throw wrongUsage("schema takes no key", "config schema");
  context.stdout.write(schemaText());
  return 0;
}

function sayDone(context: Context, done: { key?: string; file: string; origin: string }, said: string) {
  if (context.json) printResult(context, FIELDS, { page: () => "", json: () => done });
  else if (!context.isQuiet) context.stderr.write(`✓ ${done.key ?? "settings"} ${said}\n`);
  return 0;
}

function filesFor(context: Context) {
  return findConfigFiles({ ...context, userFile: context.place.configFile });
}

function chooseFile(given: FlagValues, context: Context) {
  if (given.user && given.project) throw wrongUsage("--user and --project name different files", command.usage);
  const layer = given.project ? "project" : "user";
  const file = filesFor(context).find((one) => one.layer === layer);
  if (!file) throw new Refusal("not_found", `There is no file for ${layer}`);
  return file;
}

/** Settings as lines of a config file; with a context also their origins. */
function renderSettings(settings: readonly Setting[], around?: Pick<Context, "homeDir">) {
  const lines = settings.map((setting) => ({
    text: oneLine(`${setting.key} = ${JSON.stringify(setting.value)}`),
    origin: around ? sayOrigin(setting, around) : "",
  }));
  const width = Math.max(0, ...lines.map(({ text }) => text.length));
  return lines.map(({ text, origin }) => `${origin === "" ? text : `${text.padEnd(width)}  ${origin}`}\n`).join("");
}

/** A value for scripts: strings as they are, everything else as JSON. */
function renderValue(value: unknown) {
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** The config files in order of precedence. */
function renderFiles(files: readonly ConfigFile[]) {
  const width = Math.max(...files.map(({ layer }) => layer.length));
  return files
    .map(
      ({ layer, path, isThere }) => `${layer.padEnd(width)}  ${oneLine(path)}${isThere ? "" : "  (does not exist)"}\n`,
    )
    .join("");
}

/** The JSON of a setting. */
function viewSetting({ key, value, origin, file, line }: Setting) {
  return { key, value, origin, file: file ?? null, line: line ?? null };
}

function sayOrigin({ origin, file, line }: Setting, { homeDir }: Pick<Context, "homeDir">) {
  if (file === undefined) return origin;
  const short = file.startsWith(`${homeDir}/`) ? `~${file.slice(homeDir.length)}` : file;
  return `${origin} ${oneLine(short)}${line === undefined ? "" : `:${line}`}`;
}
