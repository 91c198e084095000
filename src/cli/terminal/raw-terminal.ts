import { writeSync } from "node:fs";
import { constants } from "node:os";
import { type Key, listenForKeys } from "./keyboard.ts";

/** Receives the events of a terminal. */
export interface TerminalListener {
  pressed(key: Key): void;
  /** The size changed, or another program drew on the screen. */
  stale(): void;
}

/** A person's terminal in raw mode, on the alternate screen. The terminal is restored however the process ends. */
export interface RawTerminal {
  size(): { columns: number; rows: number };
  write(text: string): void;
  take(listener: TerminalListener): void;
  /** Restores the terminal, for another program or for good. */
  release(): void;
  /** Stops this process until it is continued from the shell. */
  suspend(): void;
}

// The alternate screen, bracketed paste, a hidden cursor.
const ENTER = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[H";
const LEAVE = "\x1b[?25h\x1b[?2004l\x1b[?1049l";
const ENDING = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;

/** The terminal that this process was started on. */
export function openTerminal(process: NodeJS.Process): RawTerminal {
  const { stdin, stdout } = process;
  let listener: TerminalListener | undefined;
  let suspended: TerminalListener | undefined;
  let stopKeys = (): void => undefined;
  const onStale = (): void => listener?.stale();
  const take = (next: TerminalListener): void => {
    listener = next;
    stdin.setRawMode(true);
    stopKeys = listenForKeys(stdin, (key) => listener?.pressed(key));
    stdin.resume();
    stdout.on("resize", onStale).write(ENTER);
  };
  const release = (): void => {
    if (!listener) return;
    listener = undefined;
    stopKeys();
    stdin.pause();
    stdout.off("resize", onStale);
    restore(process);
  };
  const suspend = (): void => {
    suspended = listener;
    release();
    process.kill(process.pid, "SIGSTOP");
  };
  // Also after a crash: restoring the terminal is the last thing this process does.
  process.on("exit", release);
  for (const name of ENDING) process.on(name, () => process.exit(128 + constants.signals[name]));
  process.on("SIGTSTP", suspend);
  process.on("SIGCONT", () => {
    if (!suspended) return;
    const resumed = suspended;
    suspended = undefined;
    take(resumed);
    resumed.stale();
  });
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    write: (text) => void stdout.write(text),
    take,
    release,
    suspend,
  };
}

/** Writes synchronously: the process may be about to end. */
function restore({ stdin, stdout }: NodeJS.Process): void {
  try {
    writeSync(stdout.fd, LEAVE);
    stdin.setRawMode(false);
  } catch {
    // The terminal itself is gone.
  }
}
