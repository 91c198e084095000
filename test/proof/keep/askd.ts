import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../place.ts";

/** How a command ended: `undefined` if it was killed. */
export interface EndedCommand {
  exit: number | undefined;
  stderr: string;
  ms: number;
}

export interface AskdOptions {
  home: string;
  place: Place;
  /** Kills the command so long after its start, as a power cut would. */
  killAfterMs?: number;
}

/** Runs the built program on a store. */
export async function askd(argv: readonly string[], { home, place, killAfterMs }: AskdOptions): Promise<EndedCommand> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [resolve("bin", "askd"), ...argv], {
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      ASKD_HOME: home,
      ASKD_NO_SERVICE: "1",
      ASKD_STORE: place.database === "sqlite" ? `sqlite:${place.address}` : place.address,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = once(child, "close");
  if (killAfterMs !== undefined) await Promise.race([closed, sleep(killAfterMs).then(() => kill(child))]);
  await closed;
  return { exit: child.exitCode ?? undefined, stderr, ms: performance.now() - startedMs };
}

/** Runs a command that must work. */
export async function mustAskd(argv: readonly string[], options: AskdOptions): Promise<EndedCommand> {
  const ended = await askd(argv, options);
  if (ended.exit !== 0) throw new Error(`askd ${argv.join(" ")} ended with ${ended.exit}: ${ended.stderr}`);
  return ended;
}

function kill(child: ChildProcess) {
  child.kill("SIGKILL");
}
