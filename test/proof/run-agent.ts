import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Launch } from "../../src/agents/runner/run-files.ts";
import type { RunPlan } from "./walk/plan.ts";
import type { Place } from "./place.ts";

/** Which agent a run has: the stand-in for Claude Code, or a scripted program that does what its plan says. */
export interface AgentCase {
  /** How many questions the stand-in asks. */
  questions?: number;
  /** How long it stays after it was told to stop. */
  lingerMs?: number;
  workMs?: number;
  /** The step and start at which it kills itself: `recorded@2`. */
  agent?: string;
  /** When the hook of a start is killed: after milliseconds or with its output, `300@1` or `output@2`. */
  hook?: string;
  /** A scripted program takes the place of the stand-in. */
  plan?: RunPlan;
}

const FOLDERS = ["bin", "home", "repo", "state"] as const;

export function folderIn(root: string, name: (typeof FOLDERS)[number]): string {
  return join(root, name);
}

/** Where a scripted program writes down what it was told. */
export function notesIn(root: string): string {
  return join(root, "agent.notes");
}

/** Makes the folders of a run, and says what `askd run` would keep to start its agent with. */
export function makeLaunch(root: string, play: AgentCase, place: Place): Launch {
  for (const name of FOLDERS) mkdirSync(folderIn(root, name), { mode: 0o700 });
  const dir = folderIn(root, "repo");
  const env = {
    PATH: `${folderIn(root, "bin")}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: folderIn(root, "home"),
    ASKD_HOME: join(root, "askd"),
    ASKD_STORE: place.database === "sqlite" ? `sqlite:${place.address}` : place.address,
  };
  return play.plan ? scripted(root, play.plan, { dir, env }) : standIn(root, play, { dir, env });
}

function standIn(root: string, play: AgentCase, { dir, env }: Pick<Launch, "dir" | "env">): Launch {
  const program = join(folderIn(root, "bin"), "claude");
  const script = resolve("test", "agents", "claude.mjs");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
  const { workMs, agent: dieAt, hook: hookDies, questions, lingerMs } = play;
  return {
    agent: "claude",
    program,
    args: ["-p"],
    prompt: "Add caching",
    dir,
    env: { ...env, STAND_IN: JSON.stringify({ folder: root, workMs, dieAt, hookDies, questions, lingerMs }) },
    options: { liveWindowMs: 1_000 },
  };
}

function scripted(root: string, plan: RunPlan, { dir, env }: Pick<Launch, "dir" | "env">): Launch {
  const file = join(root, "plan.json");
  writeFileSync(file, JSON.stringify(plan));
  writeFileSync(notesIn(root), "");
  const askd = [process.execPath, resolve("bin", "askd")];
  const args = [resolve("test", "agents", "walker.mjs"), file, notesIn(root), ...askd];
  return { agent: "command", program: process.execPath, args, dir, env, options: {} };
}
