import { join } from "node:path";
import { Refusal } from "../../../core/refusal.ts";

/** What a service needs to know of this machine and this user. */
export interface Surrounding {
  platform: NodeJS.Platform;
  homeDir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How this program is started. */
  self: readonly string[];
}

/** What has the system start askd when the user signs in: a file, and the commands that have it read. */
export interface Service {
  path: string;
  /** Who starts it, in a word. */
  manager: "systemd" | "launchd";
  /** After the file was written; then at every sign-in. */
  enable: Argvs;
  /** Before the file is taken away. */
  disable: Argvs;
  start: Argvs;
  stop: Argvs;
}

type Argvs = ReadonlyArray<readonly string[]>;

// Only what moves the store or the port; nothing secret belongs into a service's file.
const KEPT = [
  "ASKD_HOME",
  "ASKD_STORE",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "ASKD_CONFIG_DIR",
  "ASKD_PORT",
] as const;
const NAME = "askd";

/** The service of this platform, a systemd unit of the user or a launchd agent; nothing where there is neither. */
export function findService({ platform, homeDir, env }: Surrounding): Service | undefined {
  if (platform === "linux") {
    const config = env["XDG_CONFIG_HOME"] || join(homeDir, ".config");
    const systemctl = (...words: string[]): string[] => ["systemctl", "--user", ...words];
    return {
      ...{ path: join(config, "systemd", "user", `${NAME}.service`), manager: "systemd" },
      enable: [systemctl("daemon-reload"), systemctl("enable", NAME)],
      disable: [systemctl("disable", "--now", NAME)],
      start: [systemctl("start", NAME)],
      stop: [systemctl("stop", NAME)],
    };
  }
  if (platform !== "darwin") return undefined;
  const path = join(homeDir, "Library", "LaunchAgents", `dev.${NAME}.plist`);
  return {
    ...{ path, manager: "launchd" },
    enable: [["launchctl", "load", "-w", path]],
    disable: [["launchctl", "unload", "-w", path]],
    // An agent that is kept alive ends for good only when it is unloaded.
    start: [["launchctl", "load", path]],
    stop: [["launchctl", "unload", path]],
  };
}

export function getService(around: Surrounding): Service {
  const service = findService(around);
  if (service) return service;
  throw new Refusal("bad_input", `There is no service for ${around.platform} yet`, {
    hint: "Start it in the background: askd service start",
  });
}

/** What stands in the file of the service. */
export function serviceText(around: Surrounding): string {
  return getService(around).manager === "systemd" ? systemdUnit(around) : launchdAgent(around);
}

function systemdUnit({ env, self }: Surrounding): string {
  const settings = keptOf(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
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
}

function launchdAgent({ env, self }: Surrounding): string {
  const words = [...self, "serve"].map((word) => `    <string>${escaped(word)}</string>`);
  const settings = keptOf(env).map(([name, value]) => `    <key>${name}</key><string>${escaped(value)}</string>`);
  return [
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
