import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { ensureProgram } from "./debian.ts";
import { until } from "./run-dir.ts";

/** A real terminal with a program in it; it is gone when the test ends. */
export class Terminal {
  readonly #socket = `askd-test-${randomBytes(6).toString("hex")}`;

  /** Starts a command line of a shell. */
  constructor(command: string, at: { cwd: string; env: Readonly<Record<string, string>> }) {
    ensureProgram("tmux");
    // Nothing else: the session of the terminal has variables of its own.
    const set = Object.entries({ LANG: "C.UTF-8", TERM: "screen", ...at.env }).map(
      ([name, value]) => `'${name}=${value}'`,
    );
    const shell = `env -i ${set.join(" ")} ${command}; echo "[it ended with $?]"; exec cat`;
    this.#tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "60", "-c", at.cwd, "sh", "-c", shell);
    onTestFinished(() => void this.#tmux("kill-server"));
  }

  /** Types keys; `Enter` is one of them. */
  type(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  /** Everything that the terminal has shown. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-2000");
  }

  /** Waits until the terminal shows this, and returns all of it. */
  async shows(pattern: RegExp): Promise<string> {
    let screen = "";
    const what = `the terminal shows ${String(pattern)}`;
    const found = until(what, () => (pattern.test((screen = this.screen())) ? screen : undefined));
    return found.catch((cause: unknown) => {
      throw new Error(`${what}, but it shows:\n${screen.trimEnd()}`, { cause });
    });
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }
}
