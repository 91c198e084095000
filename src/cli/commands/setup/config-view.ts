import type { ConfigFile } from "../../../config/config-files.ts";
import type { Setting } from "../../../config/setting-list.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";

/** Settings as lines of a config file; with a context also their origins. */
export function renderSettings(settings: readonly Setting[], around?: Pick<Context, "homeDir">): string {
  const lines = settings.map((setting) => ({
    text: oneLine(`${setting.key} = ${JSON.stringify(setting.value)}`),
    origin: around ? sayOrigin(setting, around) : "",
  }));
  const width = Math.max(0, ...lines.map(({ text }) => text.length));
  return lines.map(({ text, origin }) => `${origin === "" ? text : `${text.padEnd(width)}  ${origin}`}\n`).join("");
}

/** A value for scripts: strings as they are, everything else as JSON. */
export function renderValue(value: unknown): string {
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** The config files in order of precedence. */
export function renderFiles(files: readonly ConfigFile[]): string {
  const width = Math.max(...files.map(({ layer }) => layer.length));
  return files
    .map(
      ({ layer, path, isThere }) => `${layer.padEnd(width)}  ${oneLine(path)}${isThere ? "" : "  (does not exist)"}\n`,
    )
    .join("");
}

/** The JSON of a setting. */
export function viewSetting({ key, value, origin, file, line }: Setting): object {
  return { key, value, origin, file: file ?? null, line: line ?? null };
}

function sayOrigin({ origin, file, line }: Setting, { homeDir }: Pick<Context, "homeDir">): string {
  if (file === undefined) return origin;
  const short = file.startsWith(`${homeDir}/`) ? `~${file.slice(homeDir.length)}` : file;
  return `${origin} ${oneLine(short)}${line === undefined ? "" : `:${line}`}`;
}
