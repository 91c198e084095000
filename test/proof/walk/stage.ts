import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../../src/store/store.ts";
import { type Place, openStore } from "../place.ts";
import type { Variant } from "../variant.ts";
import { PEOPLE, type Person } from "./plan.ts";
import { Daemon, type Typed, typeCommand } from "./process.ts";
import { type Reply, replyOf, replyOfExit } from "./reply.ts";

const LOOK_MS = 50;
/** How long nobody tries to be the worker after one found another at work: each try costs as much as many steps. */
const TAKEN_MS = 10_000;
const REPLY_MS = 30_000;
const CONFIG = `[limits]
asks_per_run = 10000
asks_per_minute = 10000
replies_per_minute = 10000
requests_per_minute = 1000000
comments = 10000
pending = 100000
[questions]
live_window = "2s"
max_per_run = 10000
[callbacks]
allow_loopback = true
`;

/** Through what somebody does something: the server, a command on the store, a command through the server. */
export type Way = "rest" | "cli" | "remote";

export interface Request {
  method: "GET" | "POST";
  path: string;
  body?: object;
  key?: string;
}

/** The whole product in processes of its own: a server, a worker, and everybody who comes to them. */
export class Stage {
  readonly root = mkdtempSync(join(tmpdir(), "askd-walk-"));
  readonly dir = join(this.root, "project");
  readonly log = join(this.root, "log");
  readonly askd: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly tokens = new Map<string, string>();
  readonly #place: Place;
  #store: Store | undefined;
  #port = 0;
  server: Daemon | undefined;
  worker: Daemon | undefined;
  /** Workers that sleep while another does their work. */
  readonly sleeping = new Set<Daemon>();
  /** Every worker that was started: one that slept and woke up goes on beside the next. */
  readonly #workers = new Set<Daemon>();
  /** Somebody looks after server and worker. */
  isOpen = true;
  #keeping: Promise<void> | undefined;

  constructor(place: Place, variant: Variant) {
    this.#place = place;
    this.askd = [process.execPath, variant.bin];
    const { PATH, LANG } = process.env;
    this.env = {
      PATH,
      LANG,
      HOME: this.root,
      ASKD_HOME: join(this.root, "home"),
      ASKD_NO_SERVICE: "1",
      ASKD_STORE: place.database === "sqlite" ? `sqlite:${place.address}` : place.address,
    };
  }

  /** The rows as they are, read beside everybody else. */
  get store(): Store {
    if (!this.#store) throw new Error("the stage is not open");
    return this.#store;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    for (const folder of [this.dir, join(this.root, "home", "config")])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.root, "home", "config", "config.toml"), CONFIG, { mode: 0o600 });
    writeFileSync(this.log, "");
    for (const name of PEOPLE) {
      // Only who is on the list is known to be another person than the others.
      const { exit, stderr } = await this.type(["user", "add", name]);
      if (exit !== 0) throw new Error(stderr);
      await this.#makeToken(name, "human");
    }
    await this.#makeToken("agent", "agent");
    this.#store = await openStore(this.#place, { poolSize: 2 });
    await this.startServer();
    this.#keeping = this.#keepWorker();
  }

  async close(): Promise<void> {
    this.isOpen = false;
    await this.#keeping;
    for (const each of [this.server, ...this.#workers]) await each?.end("SIGKILL");
    await this.#store?.close();
    for (const { pid } of this.listLeft()) killProcess(pid);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 }); // a command may just write its last line
  }

  async startServer(options: { hasWorker: boolean } = { hasWorker: false }): Promise<void> {
    const argv = [...this.askd, "serve", "--port", String(this.#port), ...(options.hasWorker ? [] : ["--no-worker"])];
    const { env, dir: cwd, log } = this;
    this.server = new Daemon(argv, { env, cwd, log, ready: /^http:\/\/\S+$/m });
    const url = await this.server.ready;
    if (url === undefined) throw new Error(`The server did not start:\n${this.lastLog()}`);
    this.#port = Number(new URL(url).port);
  }

  /** There is always a worker that is awake, or will be soon. */
  async #keepWorker(): Promise<void> {
    const { env, dir: cwd, log } = this;
    while (this.isOpen) {
      for (const each of this.sleeping) if (each.isGone || !each.isStopped) this.sleeping.delete(each);
      if (this.worker?.isStopped) this.sleeping.add(this.worker);
      if (!this.worker || this.worker.isGone || this.worker.isStopped) {
        this.worker = new Daemon([...this.askd, "worker"], { env, cwd, log, ready: /Working/ });
        for (const each of this.#workers) if (each.isGone) this.#workers.delete(each);
        this.#workers.add(this.worker);
        const ready = await this.worker.ready;
        if (ready === undefined) await this.#untilFree(); // it found another at work and ended by itself
      }
      await sleep(LOOK_MS);
    }
  }

  /** Waits until the server, which may be the one at work, is another, or for a while. */
  async #untilFree(): Promise<void> {
    const { server } = this;
    const until = performance.now() + TAKEN_MS;
    while (this.isOpen && this.server === server && !server?.isGone && performance.now() < until) await sleep(LOOK_MS);
  }

  async type(words: readonly string[], options: Partial<Parameters<typeof typeCommand>[1]> = {}): Promise<Typed> {
    return typeCommand([...this.askd, ...words], { env: this.env, cwd: this.dir, ...options });
  }

  /** Types a command for somebody: this machine's user on the store, or a person through the server. */
  async command(
    words: readonly string[],
    by: { way: Way; by: Person },
    kill?: { afterMs: number; signal: NodeJS.Signals },
  ): Promise<Reply> {
    const { ASKD_STORE: _store, ...env } = this.env;
    const remote = { ...env, ASKD_URL: this.url, ASKD_TOKEN: this.tokens.get(by.by) };
    const typed = await this.type(words, { env: by.way === "remote" ? remote : this.env, ...(kill && { kill }) });
    return replyOfExit(typed.exit, typed.stdout, typed.stderr);
  }

  /** Sends a request; one that finds nobody is tried again when the server is back, one that was cut off is not. */
  async request({ method, path, body, key }: Request, token: string): Promise<Reply> {
    const headers = {
      Authorization: `Bearer ${this.tokens.get(token) ?? ""}`,
      ...(body && { "Content-Type": "application/json" }),
      ...(key !== undefined && { "Idempotency-Key": key }),
    };
    for (;;) {
      try {
        const reply = await fetch(`${this.url}${path}`, {
          method,
          headers,
          signal: AbortSignal.timeout(REPLY_MS),
          ...(body && { body: JSON.stringify(body) }),
        });
        return replyOf(reply.status, await reply.text());
      } catch (error) {
        if (!isRefusedConnection(error) || !this.isOpen) return { is: "unknown", words: String(error) };
        await sleep(LOOK_MS);
      }
    }
  }

  /** Processes of runs that are still there. */
  listLeft(): Array<{ pid: number; run: string }> {
    const home = `ASKD_HOME=${this.env["ASKD_HOME"] ?? ""}`;
    return readdirSync("/proc").flatMap((name) => {
      const env = /^\d+$/.test(name) ? environOf(name) : [];
      const run = env.find((each) => each.startsWith("ASKD_RUN="));
      return run !== undefined && env.includes(home) ? [{ pid: Number(name), run: run.slice("ASKD_RUN=".length) }] : [];
    });
  }

  /** The end of what server and workers wrote. */
  lastLog(bytes = 3_000): string {
    return readFileSync(this.log, "utf8").slice(-bytes);
  }

  async #makeToken(name: string, scope: "human" | "agent"): Promise<void> {
    const { exit, stdout, stderr } = await this.type(["token", "create", "--scope", scope, "--subject", name]);
    if (exit !== 0) throw new Error(stderr);
    this.tokens.set(name, stdout.trim());
  }
}

function environOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return []; // gone, or somebody else's
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone by itself
  }
}

function isRefusedConnection(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
