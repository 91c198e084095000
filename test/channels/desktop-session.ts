import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureProgram } from "../debian.ts";

const START_MS = 15_000;
const LOOK_MS = 20;
const MOST_LOOKS = 50;
const run = promisify(execFile);

/** A notification as the service took it. */
export interface TakenNotification {
  id: number;
  title: string;
  body: string;
  urgency: string;
  group: string;
  timeout: number;
  actions: Array<{ key: string; label: string }>;
}

/**
 * The session of a desktop without a screen: a bus of its own, an X server in memory, and dunst, a real notification
 * service, which writes down every notification that it shows.
 */
export class DesktopSession {
  readonly dir = mkdtempSync(join(tmpdir(), "askd-desktop-"));
  readonly env: Record<string, string>;
  readonly #children: ChildProcess[] = [];
  #service: ChildProcess | undefined;
  #starts = 0;

  static async start(): Promise<DesktopSession> {
    for (const [program, debianPackage] of [
      ["dunst", "dunst"],
      ["Xvfb", "xvfb"],
      ["dbus-daemon", "dbus-daemon"],
      ["dbus-send", "dbus-bin"],
    ] as const) {
      ensureProgram(program, debianPackage);
    }
    const session = new DesktopSession();
    const [display] = await Promise.all([session.#startScreen(), session.#startBus()]);
    session.env["DISPLAY"] = `:${display}`;
    return session;
  }

  private constructor() {
    this.env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(this.dir, "bus")}`, XDG_RUNTIME_DIR: this.dir };
  }

  async #startScreen(): Promise<string> {
    const child = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#children.push(child);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("\n"), "Xvfb does not start");
    return said.trim();
  }

  /** The bus starts no services by itself: a service that is ended stays away. */
  async #startBus(): Promise<void> {
    const file = join(this.dir, "bus.conf");
    const allow = '<allow send_destination="*"/><allow eavesdrop="false" receive_sender="*"/><allow own="*"/>';
    const listen = `<listen>unix:path=${join(this.dir, "bus")}</listen>`;
    writeFileSync(
      file,
      `<busconfig><type>session</type>${listen}<auth>EXTERNAL</auth><policy context="default">${allow}</policy></busconfig>`,
    );
    const child = spawn("dbus-daemon", [`--config-file=${file}`, "--nofork", "--print-address=1"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#children.push(child);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("\n"), "dbus-daemon does not start");
  }

  /** Starts the notification service; its menu of actions chooses the one that a press names. */
  async startService(): Promise<void> {
    this.#starts += 1;
    const menu = join(this.dir, "menu.sh");
    writeFileSync(menu, `#!/bin/sh\ngrep -F -f '${join(this.dir, "choice")}' | head -n 1\n`);
    chmodSync(menu, 0o755);
    const settings = join(this.dir, "dunstrc");
    writeFileSync(settings, `[global]\ndmenu = ${menu}\nmarkup = full\nidle_threshold = 0\nnotification_limit = 0\n`);
    const env = { ...process.env, ...this.env };
    // Line by line, so that a notification is in the file before its sender gets the reply.
    const command = `exec stdbuf -oL dunst -conf '${settings}' -print > '${this.#log}'`;
    writeFileSync(this.#log, "");
    this.#service = spawn("sh", ["-c", command], { env, stdio: "ignore" });
    await until(() => this.#hasService(), "dunst does not start");
  }

  async stopService(): Promise<void> {
    const service = this.#service;
    if (!service) return;
    this.#service = undefined;
    const ended = new Promise((resolve) => service.once("exit", resolve));
    service.kill("SIGKILL");
    await ended;
    await until(() => !this.#hasService(), "the bus still knows dunst");
  }

  get #log() {
    return join(this.dir, `dunst-${this.#starts}.log`);
  }

  #hasService(): boolean {
    const call = ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner"];
    const said = execFileSync("dbus-send", ["--session", ...call, "string:org.freedesktop.Notifications"], {
      env: { ...process.env, ...this.env },
      encoding: "utf8",
    });
    return said.includes("boolean true");
  }

  /** Everything that the running service took, as it wrote it down. */
  written(): string {
    return readFileSync(this.#log, "utf8");
  }

  /** All notifications that the running service took, oldest first. */
  taken(): TakenNotification[] {
    return this.written()
      .split(/^\{$/m)
      .slice(1)
      .map((block) => {
        const part = (pattern: RegExp) => pattern.exec(block)?.[1] ?? "";
        return {
          id: Number(part(/^\tid: (\d+)$/m)),
          title: plain(part(/^\tsummary: '([\s\S]*?)'\n\tbody: /m)),
          body: plain(part(/^\tbody: '([\s\S]*?)'\n\ticon: /m)),
          urgency: part(/^\turgency: (\w+)$/m),
          group: part(/^\tstack_tag: (.*)$/m).replace("(null)", ""),
          timeout: Number(part(/^\ttimeout: (\d+)$/m)),
          actions: [...part(/^\tactions: \{\n([\s\S]*?)\n\t\}/m).matchAll(/^\t\t"(.*?)": "(.*)"$/gm)]
            .map(([, key = "", label = ""]) => ({ key, label }))
            .sort((one, other) => one.label.localeCompare(other.label)),
        };
      });
  }

  /** Presses the button of a notification that is on the screen; nothing happens if it is not. */
  async press(key: string): Promise<void> {
    writeFileSync(join(this.dir, "choice"), `,${key}]\n`);
    const before = await this.control("count", "displayed");
    await this.control("context");
    // The service shows its menu on the side, and closes the notification once a button of it was pressed.
    for (let looks = 0; looks < MOST_LOOKS && (await this.control("count", "displayed")) === before; looks += 1)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** Tells the service what a person at the screen would do, such as `close`. */
  async control(...words: string[]): Promise<string> {
    const { stdout } = await run("dunstctl", words, { env: { ...process.env, ...this.env } });
    return stdout.trim();
  }

  /** Sends a signal to a program as if it came from the notification service. */
  async forgePress(client: string, id: number, key: string): Promise<void> {
    const signal = ["--type=signal", `--dest=${client}`, "/org/freedesktop/Notifications"];
    const member = "org.freedesktop.Notifications.ActionInvoked";
    await run("dbus-send", ["--session", ...signal, member, `uint32:${id}`, `string:${key}`], {
      env: { ...process.env, ...this.env },
    });
  }

  async close(): Promise<void> {
    await this.stopService();
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function plain(markup: string) {
  return markup.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

async function until(isSo: () => boolean, why: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < START_MS; waitedMs += LOOK_MS) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(why);
}
