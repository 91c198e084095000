import { join } from "node:path";
import { Refusal } from "../../../core/refusal.ts";

/** The machine and user that a service file is written for. */
export interface ServiceSurroundings {
  platform: NodeJS.Platform;
  homeDir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The command line that starts this program. */
  self: readonly string[];
}

/** A service that the system starts at login: its file, and the commands to enable it. */
export interface Service {
  path: string;
  /** The name of the service manager. */
  manager: "systemd" | "launchd";
  /** Commands after the file was written. */
  enable: Argvs;
  /** Commands before the file is removed. */
  disable: Argvs;
  start: Argvs;
  stop: Argvs;
}

type Argvs = ReadonlyArray<readonly string[]>;

// Only variables that locate the store or the port; a service file must not hold secrets.
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

/** The service of this platform: a systemd user unit or a launchd agent; undefined if there is neither. */
export function findService({ platform, homeDir, env }: ServiceSurroundings): Service | undefined {
  if (platform === "linux") {
    const config = env["XDG_CONFIG_HOME"] || join(homeDir, ".config");
    const systemctl = (...words: string[]): string[] => ["systemctl", "--user", ...words];
    return {
      path: join(config, "systemd", "user", `${NAME}.service`),
      manager: "systemd",
      enable: [systemctl("daemon-reload"), systemctl("enable", NAME)],
      disable: [systemctl("disable", "--now", NAME)],
      start: [systemctl("start", NAME)],
      stop: [systemctl("stop", NAME)],
    };
  }
  if (platform !== "darwin") return undefined;
  const path = join(homeDir, "Library", "LaunchAgents", `dev.${NAME}.plist`);
  return {
    path,
    manager: "launchd",
    enable: [["launchctl", "load", "-w", path]],
    disable: [["launchctl", "unload", "-w", path]],
    // launchd restarts a kept-alive agent until it is unloaded.
    start: [["launchctl", "load", path]],
    stop: [["launchctl", "unload", path]],
  };
}

export function getService(around: ServiceSurroundings): Service {
  const service = findService(around);
  if (service) return service;
  throw new Refusal("bad_input", `There is no service for ${around.platform} yet`, {
    hint: "Start it in the background: askd service start",
  });
}

/** The text of the service file. */
export function serviceText(around: ServiceSurroundings): string {
  return getService(around).manager === "systemd" ? systemdUnit(around) : launchdAgent(around);
}

function systemdUnit({ env, self }: ServiceSurroundings): string {
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

function launchdAgent({ env, self }: ServiceSurroundings): string {
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

function keptOf(env: ServiceSurroundings["env"]): Array<[string, string]> {
  return KEPT.flatMap((name): Array<[string, string]> => {
    const value = env[name];
    if (!value) return [];
    if (name === "ASKD_STORE" && /:\/\/[^/]*:[^/]*@/.test(value)) {
      throw new Refusal("bad_input", "ASKD_STORE holds a password, which must not be written to a service file", {
        hint: "Use a store without one: a socket, a certificate, or ~/.pgpass",
      });
    }
    return [[name, value]];
  });
}

/** Quotes a word for a unit file: systemd interprets percent signs, quotes and backslashes. */
function quoted(word: string): string {
  if (/[\n\r]/.test(word)) throw new Refusal("bad_input", "A path with a line break cannot be part of a service");
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
