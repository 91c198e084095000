import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../test/run-dir.ts";
import { Terminal } from "../../test/tmux.ts";

// The program as people start it; `npm test` builds it first.
const BIN = fileURLToPath(new URL("../../bin/askd", import.meta.url));
const ANSWER = /ASKD_HOME=(\S+) askd answer 1 1/;

/** A place for temporary files in which the demonstration is alone, so that what it leaves behind shows. */
class DemoScene {
  readonly temp = mkdtempSync(join(tmpdir(), "askd-temp-"));
  readonly env = {
    PATH: process.env["PATH"] ?? "",
    HOME: this.temp,
    TMPDIR: join(this.temp, "t"),
    ASKD_HOME: this.temp,
  };
  readonly children: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.env.TMPDIR);
    onTestFinished(() => {
      for (const child of this.children) child.kill("SIGKILL");
      rmSync(this.temp, { recursive: true, force: true });
    });
  }

  start(...argv: string[]) {
    return this.startWith({}, ...argv);
  }

  startWith(env: Readonly<Record<string, string>>, ...argv: string[]) {
    const child = spawn(process.execPath, [BIN, ...argv], {
      cwd: this.temp,
      env: { ...this.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.children.push(child);
    const told = { text: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (told.text += text));
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", (exit) => resolve(exit)));
    const says = (pattern: RegExp): Promise<RegExpExecArray> =>
      until(`the demonstration says ${String(pattern)} in: ${told.text}`, () => pattern.exec(told.text));
    return { child, told, ended, says };
  }

  /** Files and processes of a demonstration that are still there. */
  left(): string[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return [...readdirSync(this.env.TMPDIR), ...pids.filter((pid) => this.#isOfDemo(pid))];
  }

  /** Its processes have their home among its temporary files. */
  #isOfDemo(pid: string): boolean {
    try {
      return readFileSync(join("/proc", pid, "environ"), "utf8").includes(`ASKD_HOME=${this.env.TMPDIR}/`);
    } catch {
      return false; // it ended just now, or is another user's
    }
  }
}

describe("the demonstration", () => {
  test("parks its agent, resumes it with the answer of a script, and leaves nothing behind", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--answer", "2");
    expect(await demo.ended).toBe(0);
    const { text } = demo.told;
    expect(text).toMatch(/agent │ → Write src\/cache\.mjs\n[^]*question\.asked +q-\w+, on disk/);
    const [, gone] = /run\.parked +processes ([\d, ]+) have ended/.exec(text) ?? [];
    expect(gone?.split(", ").length).toBeGreaterThan(0);
    expect(text).toMatch(/✓ Answer recorded for #1 add-caching \(q-\w+\): Memcached/);
    expect(text).toMatch(/run\.resuming +a new process[^]*I was told "Memcached", by \S+ \(cli\)\.\n/);
    expect(text).toMatch(
      /✓ #1 add-caching completed in \w+, of which \w+[^]*\d+ events, and nothing in them was changed/,
    );
    const [first, second] = [...text.matchAll(/I am process (\d+)/g)].map((match) => match[1]);
    expect(first).not.toBe(second);
    expect(gone?.split(", ")).toContain(first);
    expect(at.left()).toEqual([]);
  });

  test("takes an answer from elsewhere where nobody can type", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--patience", "10m");
    const [, home = ""] = await demo.says(ANSWER);
    expect(await at.startWith({ ASKD_HOME: home }, "answer", "1", "memcached").ended).toBe(0);
    expect(await demo.ended).toBe(0);
    expect(demo.told.text).toContain('I was told "Memcached"');
    expect(at.left()).toEqual([]);
  });

  test("signs a person in to its inbox with the code that it says", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--patience", "10m");
    const [, url = "", code = ""] = await demo.says(/Inbox {2}(\S+) {2}sign in there with (\S+)/);
    await demo.says(ANSWER);
    const signedIn = await fetch(`${url}/login`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ code }),
      headers: { origin: url },
    });
    expect(signedIn.status).toBe(303);
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const inbox = await fetch(url, { headers: { cookie, accept: "text/html" } });
    expect(await inbox.text()).toContain("Redis or Memcached for the caching layer?");
    demo.child.kill("SIGINT");
    expect(await demo.ended).toBe(130);
  });

  test("ends by what its agent declared when nobody answers, and says so", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--patience", "1s");
    expect(await demo.ended).toBe(0);
    expect(demo.told.text).toContain('Nobody answered in time; what I declared applies: "Redis".');
    expect(demo.told.text).toMatch(/question\.timed_out +nobody answered/);
    expect(at.left()).toEqual([]);
  });

  test("keeps everything where that is wanted, whatever the environment says of stores, servers and runs", async () => {
    const at = new DemoScene();
    const odd = { ASKD_URL: "http://127.0.0.1:9", ASKD_STORE: "postgres://nowhere", ASKD_RUN: "r_no", CI: "1" };
    const demo = at.startWith(odd, "demo", "--answer", "1", "--keep");
    expect(await demo.ended).toBe(0);
    const [, home = ""] = await demo.says(/Kept: ASKD_HOME=(\S+) askd show 1/);
    const show = at.startWith({ ASKD_HOME: home }, "show", "1");
    expect(await show.ended).toBe(0);
    expect(show.told.text).toContain("Status: completed");
    expect(readdirSync(join(home, "work", "src")).sort()).toEqual(["cache.mjs", "store.mjs"]);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("leaves nothing behind when %s ends it at work", async (signal) => {
    const at = new DemoScene();
    const demo = at.start("demo");
    await demo.says(/→ Write src\/cache\.mjs/);
    demo.child.kill(signal);
    expect(await demo.ended).toBe(130);
    expect(at.left()).toEqual([]);
  });

  test("leaves nothing behind when its reader has seen enough", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--patience", "10m");
    await demo.says(/→ Write src\/cache\.mjs/);
    demo.child.stdout?.destroy();
    expect(await demo.ended).toBe(130);
    expect(at.left()).toEqual([]);
  });

  test("leaves nothing behind when it is interrupted twice while it waits", async () => {
    const at = new DemoScene();
    const demo = at.start("demo", "--patience", "10m");
    await demo.says(ANSWER);
    demo.child.kill("SIGINT");
    demo.child.kill("SIGINT");
    expect(await demo.ended).toBe(130);
    expect(at.left()).toEqual([]);
  });
});

describe("the demonstration in a terminal", () => {
  const open = (at: DemoScene): Terminal => {
    const terminal = new Terminal({ cwd: at.temp, env: at.env, rows: 50 });
    terminal.enter(`${process.execPath} ${BIN} demo; echo "exit $?"`);
    return terminal;
  };

  test("takes one key as the answer", async () => {
    const at = new DemoScene();
    const terminal = open(at);
    await terminal.shows("Press 1 or 2. Or type in another terminal:");
    terminal.press("x");
    await terminal.shows("Press 1 or 2, or q to quit.");
    terminal.press("2");
    const screen = await terminal.shows("exit 0");
    expect(screen).toMatch(/I was told "Memcached", by \S+ \(cli\)/);
    expect(at.left()).toEqual([]);
  });

  test("goes on by itself when somebody elsewhere is quicker", async () => {
    const at = new DemoScene();
    const terminal = open(at);
    const [, home = ""] = ANSWER.exec(await terminal.shows(ANSWER)) ?? [];
    expect(await at.startWith({ ASKD_HOME: home }, "answer", "1", "redis").ended).toBe(0);
    expect(await terminal.shows("exit 0")).toContain('I was told "Redis"');
  });

  test.each(["C-c", "q"])("leaves nothing behind, and the terminal as it was, when %s is pressed", async (key) => {
    const at = new DemoScene();
    const terminal = open(at);
    await terminal.shows("Press 1 or 2");
    terminal.press(key);
    await terminal.shows("exit 130");
    expect(at.left()).toEqual([]);
    terminal.enter("echo seen");
    await terminal.shows(/^seen$/m); // keys are shown again
  });

  test("leaves nothing behind when Ctrl-C is pressed while the agent works", async () => {
    const at = new DemoScene();
    const terminal = open(at);
    await terminal.shows("Write src/cache.mjs");
    terminal.press("C-c");
    await terminal.shows("exit 130");
    expect(at.left()).toEqual([]);
  });
});
