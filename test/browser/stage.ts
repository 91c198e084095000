import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { openEngine } from "../../src/app.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { QuestionId } from "../../src/core/id.ts";
import type { Question } from "../../src/core/question/question.ts";
import { Refusal } from "../../src/core/refusal.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { ensureProgram } from "../debian.ts";
import { ROOMY } from "../scene.ts";

const ASKD = resolve("bin", "askd");
const MOST_ROUNDS = 20;
const START_MS = 20_000;

/** The built program with a home of its own, its server, and a browser to open its pages with. */
export class WebStage {
  readonly home = mkdtempSync(join(tmpdir(), "askd-web-"));
  readonly violations: string[] = [];
  readonly #contexts: BrowserContext[] = [];
  readonly #children = new Set<ChildProcess>();
  #browser: Browser | undefined;
  #engine: Engine | undefined;
  #server: ChildProcess | undefined;
  #port = 0;

  /** With settings as they stand in the user's file. */
  constructor(settings = "") {
    mkdirSync(join(this.home, "config"));
    writeFileSync(join(this.home, "config", "config.toml"), settings);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the server, on the same port as before if there was one. */
  async serve(...args: string[]): Promise<void> {
    const child = spawn(process.execPath, [ASKD, "serve", "--port", String(this.#port), ...args], {
      env: this.#env(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#server = child;
    const url = await firstLine(child);
    this.#port = Number(new URL(url).port);
  }

  /** Ends the server the hard way. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((done) => server.once("exit", done));
    server.kill("SIGKILL");
    await ended;
  }

  /** Types a command as a person would. */
  async type(...args: string[]): Promise<string> {
    return this.typeIn(process.cwd(), ...args);
  }

  /** Types a command in a folder. */
  async typeIn(folder: string, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [ASKD, ...args], { env: this.#env(), cwd: folder });
    return stdout.trim();
  }

  /** Starts a command that goes on beside the test. */
  start(...args: string[]): { ended: Promise<{ exit: number | null; stdout: string }> } {
    const child = spawn(process.execPath, [ASKD, ...args], { env: this.#env(), stdio: ["ignore", "pipe", "ignore"] });
    this.#children.add(child);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const ended = new Promise<{ exit: number | null; stdout: string }>((done) => {
      child.once("close", (exit) => {
        this.#children.delete(child);
        done({ exit, stdout });
      });
    });
    return { ended };
  }

  /** A browser of its own in which a person is signed in. */
  async person(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.visitor(options);
    await page.goto(`${this.url}/login`);
    await this.signIn(page, name);
    await page.waitForURL(`${this.url}/`);
    return page;
  }

  /** A browser of its own in which somebody is signed in who may change everything. */
  async admin(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.visitor(options);
    await page.goto(`${this.url}/login`);
    await page.fill("#code", await this.#loginCode(name, { grants: "admin" }));
    await page.click("button.p");
    await page.waitForURL(`${this.url}/`);
    return page;
  }

  /** Fills in the form of the page that asks who one is. */
  async signIn(page: Page, name: string): Promise<void> {
    await page.fill("#code", await this.#loginCode(name));
    await page.click("button.p");
  }

  /** A browser of its own in which nobody is signed in. */
  async visitor(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await (await this.#open()).newContext({ locale: "en", timezoneId: "Europe/Berlin", ...options });
    context.setDefaultTimeout(10_000);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) this.violations.push(message.text());
    });
    page.on("pageerror", (error) => this.violations.push(String(error)));
    return page;
  }

  async read(id: string): Promise<Question> {
    return (await (await this.engine()).read(QuestionId.parse(id))).question;
  }

  /** The pending question with that title. */
  async pending(title: string): Promise<Question> {
    const found = (await this.#pending()).find((question) => question.title === title);
    if (!found) throw new Error(`there is no question "${title}"`);
    return found;
  }

  async cancelAll(): Promise<void> {
    const engine = await this.engine();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const pending = await this.#pending();
      if (pending.length === 0) return;
      for (const { id } of pending) {
        await engine.undo(id, SYSTEM).catch(ignoreRefusal);
        await engine.cancel(id, { reason: "the test is over" }, SYSTEM).catch(ignoreRefusal);
      }
    }
  }

  /** Waits until something is so, but not for ever. */
  async until<Value>(what: string, look: () => Promise<Value | undefined>, boundMs = 20_000): Promise<Value> {
    const end = performance.now() + boundMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async #pending(): Promise<Question[]> {
    return (await this.engine()).listQuestions({ status: "pending", order: "oldest", limit: 100 });
  }

  /** Closes the browsers of people; the server goes on. */
  async clear(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    for (const child of this.#children) child.kill("SIGKILL");
  }

  async close(): Promise<void> {
    await this.clear();
    await this.#browser?.close();
    await this.#engine?.stop();
    await this.kill();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The engine on the same store, for what would take many commands. */
  async engine(): Promise<Engine> {
    const file = join(this.home, "data", "askd.db");
    this.#engine ??= await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
    return this.#engine;
  }

  async #loginCode(name: string, more: { grants?: "admin" } = {}): Promise<string> {
    const { text } = await (await this.engine()).issueToken({ scope: "login", subject: name, ...more }, SYSTEM);
    return text;
  }

  async #open(): Promise<Browser> {
    if (this.#browser) return this.#browser;
    ensureProgram("chromium");
    this.#browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    return this.#browser;
  }

  #env(): Record<string, string> {
    const path = `${join(this.home, "bin")}:${process.env["PATH"] ?? ""}`;
    return { PATH: path, ASKD_HOME: this.home, ASKD_NO_SERVICE: "1", HOME: this.home };
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

/** The first line that a program prints, but not for ever. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    const timer = setTimeout(() => fail(new Error(`nothing was printed within ${START_MS} ms`)), START_MS);
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (!text.includes("\n")) return;
      clearTimeout(timer);
      done(text.trim());
    });
  });
}
