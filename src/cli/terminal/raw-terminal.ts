import { writeSync } from "node:fs";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";

/** What a terminal tells. */
export interface TerminalListener {
  typed(text: string): void;
  /** The size has changed, or somebody else has drawn on it meanwhile. */
  stale(): void;
}

/** The terminal of a person, key by key, with a screen of our own that is given back in every case. */
export interface RawTerminal {
  size(): { columns: number; rows: number };
  write(text: string): void;
  take(listener: TerminalListener): void;
  /** Gives the terminal back, for another program or for good. */
  release(): void;
  /** Stops this process until it is continued from the shell. */
  suspend(): void;
}

// A screen of our own, pastes that are marked as such, no cursor.
const ENTER = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[H";
const LEAVE = "\x1b[?25h\x1b[?2004l\x1b[?1049l";
const ENDING = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;

/** The terminal that this process was started on. */
export function openTerminal(process: NodeJS.Process): RawTerminal {
  const { stdin, stdout } = process;
  let listener: TerminalListener | undefined;
  let suspended: TerminalListener | undefined;
  let decoder = new StringDecoder("utf8");
  const onData = (bytes: Buffer): void => listener?.typed(decoder.write(bytes));
  const onStale = (): void => listener?.stale();
  const take = (next: TerminalListener): void => {
    listener = next;
    decoder = new StringDecoder("utf8");
    stdin.setRawMode(true);
    stdin.on("data", onData).resume();
    stdout.on("resize", onStale).write(ENTER);
  };
  const release = (): void => {
    if (!listener) return;
    listener = undefined;
    stdin.off("data", onData).pause();
    stdout.off("resize", onStale);
    restore(process);
  };
  const suspend = (): void => {
    suspended = listener;
    release();
    process.kill(process.pid, "SIGSTOP");
  };
  // Also when something breaks: the last thing this process does is to give the terminal back.
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
    ...{ take, release, suspend },
  };
}

/** At once, as there may be no later. */
function restore({ stdin, stdout }: NodeJS.Process): void {
  try {
    writeSync(stdout.fd, LEAVE);
    stdin.setRawMode(false);
  } catch {
    // The terminal itself is gone.
  }
}
