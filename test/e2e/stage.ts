import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { z } from "zod";
import { removeFolder } from "../remove-folder.ts";
import { listRunProcesses } from "../../src/agents/process/process-list.ts";
import { openEngine } from "../../src/app.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { ROOMY } from "../scene.ts";
import { AGENTS, ASKD, type Box, type Door, type Start } from "./agent.ts";
import type { ProgramName } from "./install.ts";
import { type ModelRequest, findTold, readRequests } from "./journal.ts";

const MODEL = resolve("test", "agents", "model", "server.mjs");

/** A process that was started, and how it ended. */
export interface Ended {
  exitCode: number | null;
  output: string;
}

/** One agent with a home, a model and our tools of its own; everything on this machine. */
export class Stage {
  // In the home: Gemini CLI takes settings only from below folders that nobody else may write to.
  readonly root = mkdtempSync(join(homedir(), ".askd-e2e-"));
  readonly #closers: Array<() => Promise<unknown>> = [];
  #engine: Engine | undefined;
  #model: Promise<string> | undefined;
  #journal = join(this.root, "model.ndjson");

  /** Starts the agent with a script for its model and lets it run to its end. */
  async start(program: ProgramName, way: Door["kind"], steps: readonly object[], env: Record<string, string> = {}) {
    const door = way === "stdio" ? this.stdio() : await this.http();
    return this.launch((box) => AGENTS[program](box, door, promptOf(steps)), env);
  }

  /** Where an agent lives, and the environment that it lives in. */
  async box(envOf: (box: Box) => Record<string, string>) {
    const box = { home: join(this.root, "home"), dir: join(this.root, "repo"), modelUrl: await this.startModel() };
    for (const folder of [box.home, box.dir]) mkdirSync(folder, { recursive: true });
    const own = { PATH: process.env["PATH"] ?? "", HOME: box.home, TERM: "dumb", LANG: "C.UTF-8", SHELL: "/bin/sh" };
    return { box, env: { ...own, ...envOf(box), ASKD_HOME: this.askdHome, ASKD_NO_SERVICE: "1" } };
  }

  /** Has a worker start and resume agents until the stage is closed. */
  async work(env: Record<string, string> = {}): Promise<void> {
    const own = { PATH: process.env["PATH"], HOME: this.root, ASKD_HOME: this.askdHome, ...env };
    const child = spawn(process.execPath, [ASKD, "worker"], { env: own, stdio: ["ignore", "ignore", "pipe"] });
    this.#closers.push(() => endOf(child, { kill: true }));
    await new Promise((resolve) => child.stderr?.once("data", resolve));
    child.stderr?.on("data", (text: Buffer) => process.env["ASKD_DEBUG"] && process.stderr.write(text));
  }

  /** Types a command in a folder, in the environment of an agent's user. */
  async typeIn(dir: string, env: Record<string, string>, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [ASKD, ...args], { cwd: dir, env });
    return stdout;
  }

  /** Waits until something is so, but not for ever. */
  async until<Value>(what: string, look: () => Promise<Value | undefined>, boundMs = 60_000): Promise<Value> {
    const end = performance.now() + boundMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
      await pause(50);
    }
  }

  /** What carries the run and is alive. */
  async processesOf(runId: string) {
    return listRunProcesses(runId);
  }

  /** How often the model was told this, in the conversation that holds it most often. */
  timesTold(text: string | undefined): number {
    if (text === undefined) return 0;
    return Math.max(0, ...this.requests().map(({ turns }) => findTold(turns, text).length));
  }

  /** Starts a program in the agent's home and folder; a later one finds there what an earlier one left. */
  async launch(build: (box: Box, askd: readonly string[]) => Start, env: Record<string, string> = {}) {
    const box = { home: join(this.root, "home"), dir: join(this.root, "repo"), modelUrl: await this.startModel() };
    for (const folder of [box.home, box.dir]) mkdirSync(folder, { recursive: true });
    const started = build(box, [process.execPath, ASKD]);
    const [file = "", ...args] = started.argv;
    const { home, dir } = box;
    const child = spawn(file, args, {
      cwd: dir,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        TERM: "dumb",
        LANG: "C.UTF-8",
        SHELL: "/bin/sh",
        ...started.env,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#closers.push(() => endOf(child, { kill: true }));
    return { ended: endOf(child, { kill: false }) };
  }

  /** The question that waits, once it is asked and its agent is held. */
  async waiting(): Promise<Question> {
    for (;;) {
      const [question] = await (await this.engine()).listQuestions({ status: "pending", order: "oldest", limit: 1 });
      if (question) return question;
      await pause(50);
    }
  }

  /** Types a command as a person would, in the built program. */
  async type(...args: string[]): Promise<string> {
    // What goes on after a command is for the test to start: nothing is left running behind it.
    const env = { PATH: process.env["PATH"], ASKD_HOME: this.askdHome, ASKD_NO_SERVICE: "1" };
    const { stdout } = await promisify(execFile)(process.execPath, [ASKD, ...args], { env });
    return stdout;
  }

  /** Every tool result that the model was sent, in the words that it got. */
  results(): string[] {
    const parts =
      this.requests()
        .at(-1)
        ?.turns.flatMap((turn) => turn.parts) ?? [];
    // Some agents show their model the fields of a result as JSON.
    return parts.filter((part) => part.kind === "result").map((part) => (part.text ?? "").replaceAll("\\n", "\n"));
  }

  /** All that the model was sent last, as the agent wrote it. */
  told(): string {
    return this.requests().at(-1)?.line ?? "{}";
  }

  /** All that the model was asked, oldest first; with a mark only in conversations that hold it. */
  requests(mark?: string): ModelRequest[] {
    return readRequests(this.#journal, mark);
  }

  async engine(): Promise<Engine> {
    const file = join(this.askdHome, "data", "askd.db");
    if (!this.#engine) mkdirSync(join(this.askdHome, "data"), { recursive: true });
    this.#engine ??= await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
    return this.#engine;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await this.#engine?.stop();
    await removeFolder(this.root);
  }

  /** Where askd keeps everything of this stage. */
  get askdHome(): string {
    return join(this.root, "askd");
  }

  /** Our MCP server as a person would configure it. */
  stdio(): Extract<Door, { kind: "stdio" }> {
    return { kind: "stdio", argv: [process.execPath, ASKD, "mcp"], env: { ASKD_HOME: this.askdHome } };
  }

  /** Our MCP server over HTTP, with a token for an agent. */
  async http(env: Record<string, string> = {}): Promise<Extract<Door, { kind: "http" }>> {
    const { port } = await this.serve(undefined, 0, env);
    return { kind: "http", url: `http://127.0.0.1:${port}/mcp`, token: await this.agentToken() };
  }

  /** Starts our server, on any port unless one is given; it may also be called by that name. */
  async serve(
    name?: string,
    at = 0,
    env: Record<string, string> = {},
  ): Promise<{ port: number; kill(): Promise<unknown> }> {
    const more = name === undefined ? [] : ["--name", name];
    const child = spawn(process.execPath, [ASKD, "serve", "--port", String(at), "--quiet", ...more], {
      env: { PATH: process.env["PATH"], ASKD_HOME: this.askdHome, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const kill = () => endOf(child, { kill: true });
    this.#closers.push(kill);
    return { port: Number(new URL(await firstLine(child)).port), kill };
  }

  async agentToken(): Promise<string> {
    return (await this.type("token", "create", "--scope", "agent", "--subject", "agent")).trim();
  }

  /** Starts a model that does what the prompts say, once, and returns its address. */
  startModel(): Promise<string> {
    this.#model ??= this.#startModel();
    return this.#model;
  }

  async #startModel(): Promise<string> {
    const child = spawn(process.execPath, [MODEL, "--journal", this.#journal], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#closers.push(() => endOf(child, { kill: true }));
    const line = await firstLine(child);
    return `http://127.0.0.1:${z.object({ port: z.number() }).parse(JSON.parse(line)).port}`;
  }
}

/** Gives a test a stage of its own, so that several run at once: most of the time their agents wait. */
export async function onStage(play: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = new Stage();
  try {
    await play(stage);
  } finally {
    await stage.close();
  }
}

/** A prompt that carries what the model is to say. */
export function promptOf(steps: readonly object[]): string {
  return `Do the job. @@mock ${JSON.stringify(steps)}`;
}

/** Makes a step of the script stay due until the model was told this, however often its agent is stopped or killed. */
export function untilTold(text: string, step: object): object {
  // The prompt that carries the script does not match.
  return { ...step, told: `${text.slice(0, -1)}[${text.slice(-1)}]` };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("it ended before it said anything")));
    if (child.stdout) createInterface({ input: child.stdout }).once("line", resolve);
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function endOf(child: ChildProcess, { kill }: { kill: boolean }): Promise<Ended> {
  if (kill) child.kill("SIGKILL");
  if (child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve({ exitCode: child.exitCode, output: "" });
  let output = "";
  child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
  child.stderr?.on("data", (text: Buffer) => (output += text.toString()));
  return new Promise((resolve) => child.once("close", (exitCode) => resolve({ exitCode, output })));
}
