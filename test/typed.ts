import { PassThrough, Readable } from "node:stream";
import { main } from "../src/cli/main.ts";
import type { World } from "../src/cli/world.ts";
import { epochMs } from "../src/core/instant.ts";
import { type Scene, engineOn } from "./scene.ts";

/** What a command did: its exit code and what it printed. */
export interface Typed {
  exit: number;
  stdout: string;
  stderr: string;
}

/** Types a command on the scene's store, the way a process would: with an engine of its own. */
export async function type(scene: Scene, argv: readonly string[], over: Partial<World> = {}): Promise<Typed> {
  let stdout = "";
  let stderr = "";
  const world: World = {
    stdout: { write: (text) => void (stdout += text), isTty: false, columns: 80 },
    stderr: { write: (text) => void (stderr += text), isTty: false, columns: 80 },
    stdin: { isTty: false, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(undefined) },
    env: {},
    cwd: "/work",
    user: "ada",
    host: "here",
    ahead: () => 0,
    homeDir: "/home/ada",
    platform: "linux",
    self: ["askd"],
    program: "askd",
    nowMs: () => epochMs(scene.now),
    interrupt: () => new AbortController().signal,
    streams: () => ({ input: Readable.from([]), output: new PassThrough() }),
    readFile: () => Promise.reject(new Error("no such file")),
    runChild: () => Promise.reject(new Error("nothing can be started here")),
    pause: () => Promise.resolve(),
    openEngine: () => Promise.resolve(engineOn(scene.store, scene.rules, () => epochMs(scene.now))),
    ...over,
  };
  const exit = await main(argv, world);
  return { exit, stdout, stderr };
}
