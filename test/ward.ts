import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { AGENTS } from "../src/agents/agents.ts";
import { isLocked } from "../src/agents/process/lock.ts";
import { openEngine } from "../src/app.ts";
import { MINUTE_MS, instant } from "../src/core/instant.ts";
import { checkUp } from "../src/doctor/check-up.ts";
import { repairAll } from "../src/doctor/run-checks.ts";
import { type Finding, needsAction } from "../src/doctor/finding.ts";
import type { DoctorContext } from "../src/doctor/doctor-context.ts";
import { wireClient } from "../src/doctor/wire-client.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { ClientSurroundings } from "../src/agents/wiring.ts";
import type { Store } from "../src/store/store.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { ROOMY } from "./scene.ts";

/** What the built program says that it is. */
export const { version: VERSION } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(resolve("package.json"), "utf8")));

/** Nobody listens there, and nobody can who is not root. */
const NO_PORT = 2;

/** A user's askd with real files, to plant something in and have it looked at. All of it is gone when the test ends. */
export class Ward {
  readonly root = mkdtempSync(join(tmpdir(), "askd-ward-"));
  readonly home = join(this.root, "home");
  readonly project = join(this.home, "project");
  readonly bin = join(this.root, "bin");
  readonly stateDir = join(this.root, "state");
  readonly runtimeDir = join(this.root, "run");
  readonly file = join(this.root, "data", "askd.db");
  /** What repairs said that they did besides. */
  readonly notes: string[] = [];
  readonly #over: Partial<DoctorContext>;

  constructor(over: Partial<DoctorContext> = {}) {
    this.#over = over;
    for (const dir of [this.project, this.bin]) mkdirSync(dir, { recursive: true });
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  get context(): DoctorContext {
    return {
      env: this.env,
      cwd: this.project,
      homeDir: this.home,
      platform: process.platform,
      host: hostname(),
      store: { kind: "sqlite", file: this.file },
      stateDir: this.stateDir,
      runtimeDir: this.runtimeDir,
      rules: ROOMY,
      config: { values: {}, origins: new Map(), warnings: [], errors: [], files: [] },
      version: VERSION,
      nodeVersion: process.versions.node,
      self: [process.execPath, resolve("bin", "askd")],
      port: NO_PORT,
      agents: AGENTS,
      around: this.around,
      wire: (client, scope) =>
        wireClient(client, scope, { around: this.around, stateDir: this.stateDir, now: instant(Date.now()) }),
      note: (text) => this.notes.push(text),
      nowMs: Date.now,
      isWorkerLocked: async () => isLocked(join(dirname(this.file), "askd.lock")),
      openRemote: () => Promise.reject(new Error("there is no server")),
      doDue: () => this.doDue(),
      startWorker: () => Promise.resolve(false),
      ...this.#over,
    };
  }

  /** Where no agent is installed but those that a test puts there. */
  get around(): ClientSurroundings {
    const own = [process.execPath, resolve("bin", "askd")];
    return {
      env: this.env,
      homeDir: this.home,
      platform: process.platform,
      dir: this.project,
      askd: { own, shared: ["npx", "-y", "askd@0.1.0"] },
      liveWindowMs: 3 * MINUTE_MS,
    };
  }

  get env(): Record<string, string> {
    return { PATH: `${this.bin}:/usr/bin:/bin`, HOME: this.home, ASKD_HOME: this.root };
  }

  /** Does something with the engine of a command that ends then. */
  async withEngine<Result>(act: (engine: Engine) => Promise<Result>): Promise<Result> {
    const { store } = this.context;
    if (store.kind === "server") throw new Error("the engine is elsewhere");
    const engine = await openEngine({ store, rules: ROOMY });
    try {
      return await act(engine);
    } finally {
      await engine.stop();
    }
  }

  async withStore<Result>(act: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openSqliteStore(this.file);
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  }

  /** Makes the store, as a first question would. */
  makeStore(): Promise<void> {
    return this.withEngine(() => Promise.resolve());
  }

  async doDue(): Promise<void> {
    await this.withEngine((engine) => engine.doDue());
  }

  look(over: Partial<DoctorContext> = {}): Promise<Finding[]> {
    return checkUp({ ...this.context, ...over });
  }

  /** What has to be done something about, as `code: text`. */
  async troubles(over: Partial<DoctorContext> = {}): Promise<string[]> {
    return (await this.look(over)).filter(needsAction).map(({ code, text }) => `${code}: ${text}`);
  }

  /** Has everything put right that can be, and says what was, or why not, and what is left. */
  async fix(over: Partial<DoctorContext> = {}): Promise<{ fixed: string[]; left: string[] }> {
    const { repaired } = await repairAll(await this.look(over), () => this.look(over));
    const fixed = repaired.map(({ finding, failure }) => failure ?? finding.code);
    return { fixed, left: await this.troubles(over) };
  }
}
