import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ClientName } from "../../core/door/client-profile.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { ClientSurroundings, Client, DesiredField, DesiredConfig } from "../../agents/wiring.ts";
import { renderSettings } from "../../setup/desired-config.ts";
import type { ProbeAgent, ProbeBox } from "../../agents/probe.ts";
import { type ModelSaw, startModel } from "./probe-model.ts";
import { HELD } from "./probe-server.ts";

/** How long an agent may take to start, and to tell its model of a result. */
export const START_MS = 60 * SECOND_MS;
/** Variables that Node needs from the user's environment, and agents from the system's. */
const KEPT = ["PATH", "LANG", "TMPDIR", "SHELL", "SystemRoot", "USER"];

/** One trial: what the settings say, and what the server does. */
export interface ProbeTrial {
  holdMs: number;
  progressMs?: number;
  /** The limit of one call, as the settings have it; without one the client's own holds. */
  limitMs?: number;
  /** How long the client waits without progress. */
  idleMs?: number;
  /** Leaves out what makes the tool visible, or what allows it. */
  without?: "alwaysLoad" | "leave";
}

/** The observations of one trial. */
export interface ProbeObservation {
  isOffered: boolean;
  /** The call was made and came back: how long it took, and whether it was held to its end. */
  call: { ms: number; isHeld: boolean; result: string; client: ClientName | undefined } | undefined;
  /** The output of the program, if it never called its model. */
  failure: string | undefined;
}

export interface ProbeAt {
  client: Client;
  agent: ProbeAgent;
  program: string;
  around: ClientSurroundings;
  /** Where homes for agents can be made, each for one trial. */
  stateDir: string;
}

/** Starts the real program with settings as askd writes them, changed as the trial wants, and watches one call. */
export async function runTrial(trial: ProbeTrial, at: ProbeAt): Promise<ProbeObservation> {
  await mkdir(at.stateDir, { recursive: true, mode: 0o700 });
  const root = await mkdtemp(join(at.stateDir, "probe-"));
  const model = await startModel(trial.without === "leave" ? at.agent.tool : undefined);
  const box: ProbeBox = { home: join(root, "home"), dir: join(root, "dir"), modelUrl: model.url };
  let child: ChildProcess | undefined;
  try {
    for (const dir of [box.home, box.dir]) await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeSettings(trial, box, at);
    const env = {
      ...pick(at.around.env, KEPT),
      HOME: box.home,
      TERM: "dumb",
      ...at.agent.env(box),
      ...idle(trial, at),
    };
    child = spawn(at.program, [...at.agent.args], {
      cwd: box.dir,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const said = collect(child);
    await within(trial.holdMs + START_MS, Promise.race([model.over, endOf(child)]));
    return readSeen(model.saw, said());
  } finally {
    await end(child);
    await model.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The settings that `askd init` would write into an empty home, with the trial's server in the place of ours. */
async function writeSettings(trial: ProbeTrial, box: ProbeBox, { client, agent, around }: ProbeAt): Promise<void> {
  const words = [
    "probe-server",
    "--hold",
    `${trial.holdMs}ms`,
    ...(trial.progressMs === undefined ? [] : ["--progress", `${trial.progressMs}ms`]),
    ...(trial.without === "leave" ? ["--writes"] : []),
  ];
  const own = [...around.askd.own, ...words];
  const env = { ...agent.env(box), HOME: box.home };
  const inside: ClientSurroundings = { ...around, env, homeDir: box.home, dir: box.dir, askd: { own, shared: own } };
  const targets = client.targets("user", inside);
  for (const [index, target] of targets.entries()) {
    const base = index === 0 ? agent.base(box) : "";
    const wishes = target.wishes.flatMap((wish) => changeWish(wish, trial));
    const text = renderSettings(base, target.format, wishes);
    await mkdir(dirname(target.file), { recursive: true, mode: 0o700 });
    await writeFile(target.file, text, { mode: 0o600 });
  }
}

/** The permission settings of each client, besides rules. */
const LEAVE = new Set(["trust", "default_tools_approval_mode"]);

function changeWish(wish: DesiredConfig, { limitMs, without }: ProbeTrial): DesiredConfig[] {
  if (wish.is === "hook") return []; // hooks are not what is measured
  if (wish.is === "allow") return without === "leave" ? [] : [wish];
  const { timeout } = wish;
  const fields = Object.entries(wish.fields).filter(
    ([name]) =>
      name !== timeout?.field &&
      !(without === "alwaysLoad" && name === "alwaysLoad") &&
      !(without === "leave" && LEAVE.has(name)),
  );
  const limit: Array<[string, DesiredField]> =
    timeout && limitMs !== undefined ? [[timeout.field, { value: limitMs / timeout.unitMs, when: "absent" }]] : [];
  return [{ ...wish, fields: Object.fromEntries<DesiredField>([...fields, ...limit]) }];
}

function idle({ idleMs }: ProbeTrial, { agent }: ProbeAt): Record<string, string> {
  return idleMs === undefined || agent.idleEnv === undefined ? {} : { [agent.idleEnv]: String(idleMs) };
}

function readSeen({ offeredAs, hasBeenAsked, ms, result }: ModelSaw, said: string): ProbeObservation {
  const [, name, version] = new RegExp(`${HELD} (\\S+) ([^\\s"<]+)`).exec(result ?? "") ?? [];
  const client = name === undefined || version === undefined ? undefined : { name, version };
  return {
    isOffered: offeredAs !== undefined,
    call: ms === undefined || result === undefined ? undefined : { ms, isHeld: result.includes(HELD), result, client },
    failure: hasBeenAsked ? undefined : said.trim().split("\n").at(-1)?.slice(0, 300) || "it asked its model nothing",
  };
}

function collect(child: ChildProcess): () => string {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-4_000)));
  }
  return () => said;
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

/** The program and everything in its group; what it was to show was seen by now. */
async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
  const ended = endOf(child);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
  await within(5 * SECOND_MS, ended);
}

function pick(env: ClientSurroundings["env"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name] ?? ""]])));
}
