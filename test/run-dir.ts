import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Start } from "../src/agents/agent.ts";
import { startProcess, type ProcessStart, type StartResult } from "../src/agents/process/process.ts";
import { makeRunDir } from "../src/agents/runner/run-files.ts";
import { stopRun } from "../src/agents/process/stop.ts";
import type { RunId } from "../src/core/id.ts";
import { IDS } from "./builders.ts";

const LATE_EPOCH = 1_000_000;
const BOUND_MS = 45_000;
const LOOK_MS = 10;

/** A run with its directory and real processes, which are all gone when the test ends. */
export interface RunScene {
  runId: RunId;
  runDir: string;
  /** Where its agent works. */
  dir: string;
  /** What it takes to start a shell script as the agent. */
  script(text: string, over?: Partial<ProcessStart> & { stdin?: string; args?: string[] }): ProcessStart;
  start(text: string, over?: Partial<ProcessStart> & { stdin?: string; args?: string[] }): Promise<StartResult>;
  /** What a file in the run's directory holds. */
  read(name: string): string;
}

/** Makes a run that cannot be told from a real one by its processes. */
export async function aRunScene(): Promise<RunScene> {
  const runId = IDS.run();
  const root = mkdtempSync(join(tmpdir(), "askd-run-"));
  const runDir = await makeRunDir(join(root, "state"), runId);
  onTestFinished(async () => {
    await stopRun({ runId, runDir, lastEpoch: LATE_EPOCH, graceMs: 0 });
    rmSync(root, { recursive: true });
  });
  const script: RunScene["script"] = (text, { stdin, args = [], ...over } = {}) => {
    const start: Start = {
      argv: ["/bin/sh", "-c", text, "agent", ...args],
      env: {},
      files: [],
      stdin,
      session: undefined,
      prints: "lines",
      added: [],
    };
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
    return { runId, epoch: 1, runDir, dir: root, env, start, ...over };
  };
  return {
    runId,
    runDir,
    dir: root,
    script,
    start: (text, over) => startProcess(script(text, over)),
    read: (name) => readFileSync(join(runDir, name), "utf8"),
  };
}

/** Waits until something is so; a test that waits in vain fails by its own name. */
export async function until<Value>(what: string, look: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
  const end = performance.now() + BOUND_MS;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
