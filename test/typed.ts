import { PassThrough, Readable } from "node:stream";
import { AGENTS } from "../src/agents/agents.ts";
import { readOwnIdentity } from "../src/agents/process/process-identity.ts";
import { main } from "../src/cli/main.ts";
import type { ProcessWorld } from "../src/cli/process.ts";
import { epochMs } from "../src/core/instant.ts";
import { engineOn } from "../src/app.ts";
import type { Engine } from "../src/engine/engine.ts";
import { overriding } from "./proof/overriding.ts";
import { remoteEngine } from "./remote.ts";
import { Scene } from "./scene.ts";

/** What a command did: its exit code and what it printed. */
export interface Typed {
  exit: number;
  stdout: string;
  stderr: string;
}

/** The scene's engine, which sees a worker beat wherever one has the lock. */
async function engineFor(scene: Scene, { isLocked, hostIn }: ProcessWorld): Promise<Engine> {
  const process = await readOwnIdentity();
  const host = await hostIn("", "found");
  const row = () => ({ kind: "worker", id: "w_1", version: 1, body: { host, process, beatAt: scene.now } }) as const;
  return Object.assign(plainEngineFor(scene), { listWorkerRows: async () => ((await isLocked("")) ? [row()] : []) });
}

function plainEngineFor(scene: Scene): Engine {
  const local = engineOn(scene.store, {
    rules: scene.rules,
    nowMs: () => epochMs(scene.now),
    ...(scene.ids && { ids: scene.ids }),
  });
  return Scene.engines === "local" ? local : remoteEngine(local, scene.store, scene.rules);
}

/** Types a command on the scene's store, the way a process would: with an engine of its own. */
export async function type(scene: Scene, argv: readonly string[], over: Partial<ProcessWorld> = {}): Promise<Typed> {
  let stdout = "";
  let stderr = "";
  const world: ProcessWorld = {
    stdout: { write: (text) => void (stdout += text), isTty: false, columns: 80 },
    stderr: { write: (text) => void (stderr += text), isTty: false, columns: 80 },
    stdin: { isTty: false, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(undefined) },
    env: {},
    agents: () => Promise.resolve(AGENTS),
    runsAbove: () => [],
    runsOfSession: () => Promise.resolve([]),
    isInSessionOf: () => Promise.resolve(false),
    isSessionLeader: () => false,
    seesAllAbove: () => Promise.resolve(true),
    mayHide: () => Promise.resolve(false),
    startOf: (pid) => `boot:${pid}`,
    findStartedAs: () => Promise.resolve(undefined),
    pid: 4711,
    tellToEnd: () => false,
    cwd: "/project",
    user: "ada",
    hostIn: () => Promise.resolve("here"),
    ahead: () => 0,
    homeDir: "/home/ada",
    platform: "linux",
    self: ["askd"],
    program: "askd",
    nowMs: () => epochMs(scene.now),
    interrupt: () => new AbortController().signal,
    streams: () => ({ input: Readable.from([]), output: new PassThrough() }),
    openTerminal: () => Promise.reject(new Error("there is no terminal here")),
    readFile: () => Promise.reject(new Error("no such file")),
    writeFile: () => Promise.reject(new Error("nothing can be written here")),
    removeFile: () => Promise.resolve(false),
    runChild: () => Promise.reject(new Error("nothing can be started here")),
    detach: () => Promise.reject(new Error("nothing can be started here")),
    lock: () => Promise.resolve(() => undefined),
    isLocked: () => Promise.resolve(true),
    pause: () => Promise.resolve(),
    openServer: () => Promise.reject(new Error("nothing is served here")),
    findServer: () => Promise.resolve(undefined),
    openChannelOf: () => Promise.reject(new Error("no channel is configured here")),
    openEngine: () => engineFor(scene, world),
    openStore: () => Promise.resolve(overriding(scene.store, { close: () => Promise.resolve() })),
    findSchema: () => Promise.resolve({ schema: 1, known: 1 }),
    ...over,
  };
  const exit = await main(argv, world);
  return { exit, stdout, stderr };
}
