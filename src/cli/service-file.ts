import { join } from "node:path";
import { Refusal } from "../core/refusal.ts";

/** What a service needs to know of this machine and this user. */
export interface Surrounding {
  platform: NodeJS.Platform;
  homeDir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How this program is started. */
  self: readonly string[];
}

/** A file that has the system start askd when the user signs in, and how to have it read. */
export interface ServiceFile {
  path: string;
  text: string;
  /** What to type after it was written, and before it is taken away. */
  start: string;
  stop: string;
}

// Only what moves the store or the port; nothing secret belongs into a service's file.
const KEPT = [
  "ASKD_HOME",
  "ASKD_STORE",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "ASKD_CONFIG_DIR",
] as const;
const NAME = "askd";

/** The service of this platform: a systemd unit of the user, or a launchd agent. */
export function serviceFile(around: Surrounding): ServiceFile {
  if (around.platform === "linux") return systemdUnit(around);
  if (around.platform === "darwin") return launchdAgent(around);
  throw new Refusal("bad_input", `There is no service for ${around.platform} yet`, {
    hint: "Start it by hand: askd serve",
  });
}

function systemdUnit({ homeDir, env, self }: Surrounding): ServiceFile {
  const config = env["XDG_CONFIG_HOME"] ?? join(homeDir, ".config");
  const settings = keptOf(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  const text = [
    "[Unit]",
    "Description=askd: agents ask, people answer",
    "",
    "[Service]",
    `ExecStart=${[...self, "serve"].map(quoted).join(" ")}`,
    ...settings,
    "Restart=on-failure",
    "RestartSec=2",
    "NoNewPrivileges=yes",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
  return {
    path: join(config, "systemd", "user", `${NAME}.service`),
    text,
    start: `systemctl --user daemon-reload && systemctl --user enable --now ${NAME}`,
    stop: `systemctl --user disable --now ${NAME}`,
  };
}

function launchdAgent({ homeDir, env, self }: Surrounding): ServiceFile {
  const path = join(homeDir, "Library", "LaunchAgents", `dev.${NAME}.plist`);
  const words = [...self, "serve"].map((word) => `    <string>${escaped(word)}</string>`);
  const settings = keptOf(env).map(([name, value]) => `    <key>${name}</key><string>${escaped(value)}</string>`);
  const text = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key><string>dev.${NAME}</string>`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...words,
    "  </array>",
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...settings,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><true/>",
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
  return { path, text, start: `launchctl load -w ${path}`, stop: `launchctl unload -w ${path}` };
}

function keptOf(env: Surrounding["env"]): Array<[string, string]> {
  return KEPT.flatMap((name): Array<[string, string]> => {
    const value = env[name];
    if (!value) return [];
    if (name === "ASKD_STORE" && /:\/\/[^/]*:[^/]*@/.test(value)) {
      throw new Refusal("bad_input", "ASKD_STORE holds a password, which does not belong into a service's file", {
        hint: "Use a store without one: a socket, a certificate, or ~/.pgpass",
      });
    }
    return [[name, value]];
  });
}

/** One word of a unit file: systemd reads percent signs, quotes and backslashes in it. */
function quoted(word: string): string {
  if (/[\n\r]/.test(word)) throw new Refusal("bad_input", "A path with a line break cannot be part of a service");
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
