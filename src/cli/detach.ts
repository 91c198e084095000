import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Detached } from "./context.ts";

/** Starts a program that outlives this one and knows nothing of its terminal. */
export function detach({ argv, env, log }: Detached): void {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const out = openSync(log, "a", 0o600);
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  child.once("error", () => undefined); // what it was to do is still to be done, and whoever looks next starts it
  child.unref();
}
