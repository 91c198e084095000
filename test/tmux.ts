import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { ensureProgram } from "./debian.ts";
import { until } from "./run-dir.ts";

let started = 0;

/** Where a program is started in a terminal. */
export interface TerminalStart {
  columns?: number;
  rows?: number;
  cwd: string;
  /** The whole environment of the shell in it. */
  env: Readonly<Record<string, string>>;
}

/** A shell in a real terminal, driven by keys and read by what is on its screen; gone when the test ends. */
export class Terminal {
  readonly #socket: string;

  constructor({ columns = 100, rows = 24, cwd, env }: TerminalStart) {
    ensureProgram("tmux");
    started += 1;
    this.#socket = `askd-test-${process.pid}-${started}`;
    onTestFinished(() => void this.#tmux(["kill-server"], { mayFail: true }));
    const own = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8", PS1: "$ ", ENV: "", ...env };
    const variables = Object.entries(own).map(([name, value]) => `${name}=${value}`);
    const size = ["-x", String(columns), "-y", String(rows)];
    const options = ["set", "-g", "status", "off", ";", "set", "-g", "escape-time", "0", ";"];
    this.#tmux([
      "-f",
      "/dev/null",
      "start-server",
      ";",
      ...options,
      "set",
      "-g",
      "history-limit",
      "1000",
      ";",
      "new-session",
      "-d",
      ...size,
      "-c",
      cwd,
      "env",
      "-i",
      "TERM=screen-256color",
      ...variables,
      "/bin/sh",
    ]);
  }

  /** Presses keys by their names: `Enter`, `Down`, `C-c`, `Escape`, `a`. */
  press(...keys: string[]): void {
    this.#tmux(["send-keys", ...keys]);
  }

  /** Types this text as it is. */
  write(text: string): void {
    this.#tmux(["send-keys", "-l", "--", text]);
  }

  /** Types a command and presses Enter. */
  enter(line: string): void {
    this.write(line);
    this.press("Enter");
  }

  /** Pastes this text the way terminals do: marked as a paste where the program asked for that. */
  paste(text: string): void {
    this.#tmux(["load-buffer", "-"], { input: text });
    this.#tmux(["paste-buffer", "-p"]);
  }

  resize(columns: number, rows: number): void {
    this.#tmux(["resize-window", "-x", String(columns), "-y", String(rows)]);
  }

  /** What is on the screen now, without the empty end of each line. */
  screen(): string {
    return this.#tmux(["capture-pane", "-p"])
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** Waits until the screen shows this, and returns the screen. */
  async shows(wanted: string | RegExp): Promise<string> {
    let last = "";
    const isThere = (): boolean => {
      last = this.screen();
      return typeof wanted === "string" ? last.includes(wanted) : wanted.test(last);
    };
    await until(`the terminal shows ${String(wanted)}`, isThere).catch((error: unknown) => {
      throw new Error(`${String(error)}; it showed:\n${last}`, { cause: error });
    });
    return last;
  }

  /** Where the cursor is, from 0, and whether it is shown. */
  cursor(): { column: number; row: number; isShown: boolean } {
    const told = this.#tmux(["display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}"]).trim().split(" ");
    return { column: Number(told[0]), row: Number(told[1]), isShown: told[2] === "1" };
  }

  #tmux(args: readonly string[], { mayFail = false, input = "" } = {}): string {
    try {
      return execFileSync("tmux", ["-L", this.#socket, ...args], {
        encoding: "utf8",
        input,
        timeout: 20_000,
        stdio: ["pipe", "pipe", mayFail ? "ignore" : "pipe"],
      });
    } catch (error) {
      if (mayFail) return "";
      throw error;
    }
  }
}
