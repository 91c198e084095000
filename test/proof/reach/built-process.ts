import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TOKEN } from "../../channels/telegram-server.ts";
import type { DyingProcess } from "./reach-process.ts";
import { HttpChannel, type ReachTask } from "./reach-task.ts";
import type { ReachService } from "./service.ts";
import type { StopPoint } from "./stop-point.ts";

const BOUND_MS = 300_000; // a busy machine may take long to start a program
const MESSAGE = /\/(?:sendMessage|editMessageText|hook)$|^\/$/;

/**
 * The built `askd worker` as people start it. It knows of no points: the service kills it when a message arrives, before
 * (`claimed`) or after (`taken`) it has taken the message.
 */
export class BuiltProcess implements DyingProcess {
  readonly #home = mkdtempSync(join(tmpdir(), "askd-reach-"));
  #child: ChildProcess | undefined;
  #armed: StopPoint | undefined;
  #complaints = "";

  constructor({ traffic }: ReachService) {
    if (!traffic) throw new Error("the service cannot kill the process");
    const { handle } = traffic;
    traffic.handle = async (request, response) => {
      const point = request.method === "POST" && MESSAGE.test(request.url.pathname) ? this.#armed : undefined;
      if (point === undefined) return handle(request, response);
      this.#armed = undefined;
      await this.#kill();
      return point === "taken" ? handle(request, response) : void response.destroy();
    };
  }

  get complaints(): string[] {
    return this.#complaints.split("\n").filter((line) => line !== "");
  }

  start(task: ReachTask): Promise<void> {
    const { database, address } = task.place;
    mkdirSync(join(this.#home, "config"), { recursive: true });
    writeFileSync(join(this.#home, "config", "config.toml"), this.#settingsOf(task));
    const child = spawn(process.execPath, [resolve("bin", "askd"), "worker"], {
      cwd: this.#home,
      env: {
        PATH: process.env["PATH"],
        HOME: this.#home,
        ASKD_HOME: this.#home,
        ASKD_STORE: database === "sqlite" ? `sqlite:${address}` : address,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    this.#child = child;
    return Promise.resolve();
  }

  arm(point: StopPoint): Promise<void> {
    this.#armed = point;
    return Promise.resolve();
  }

  async died(): Promise<boolean> {
    const until = performance.now() + BOUND_MS;
    while (this.#child?.signalCode === null && performance.now() < until) await sleep(10);
    return this.#child?.signalCode === "SIGKILL";
  }

  async end(): Promise<string[]> {
    await this.#kill();
    rmSync(this.#home, { recursive: true, force: true });
    return [];
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  #settingsOf({ channel, url, secret }: ReachTask): string {
    const file = (name: string, text: string) => {
      const path = join(this.#home, name);
      writeFileSync(path, text, { mode: 0o600 });
      return JSON.stringify(path);
    };
    const address = `url = ${JSON.stringify(url)}`;
    const lines: Record<HttpChannel, string[]> = {
      telegram: [address, `token_file = ${file("telegram", TOKEN)}`],
      ntfy: [
        address,
        'topic = "askd-q-9f3k"',
        'reply_topic = "askd-a-7h2m"',
        `token_file = ${file("ntfy", "tk_askd")}`,
        `reply_token_file = ${file("phone", "tk_phone")}`,
      ],
      webhook: [address, `secret_file = ${file("webhook", secret)}`, "[callbacks]", "allow_loopback = true"],
    };
    return [`[channels.${channel}]`, ...lines[HttpChannel.parse(channel)], ""].join("\n");
  }
}
