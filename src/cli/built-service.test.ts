import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene, type Ended } from "../../test/built.ts";

const BOUND_MS = 60_000;
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\n$/;

/** A home whose servers take any free port, so that no other one is in the way. */
class ServiceScene extends BuiltScene {
  readonly calls = join(this.home, "calls");

  /** Puts a `systemctl` first on the path that writes down how it is called, and then does this. */
  withSystemctl(script: string): Record<string, string> {
    const bin = join(this.home, "bin");
    mkdirSync(bin, { recursive: true });
    const file = join(bin, "systemctl");
    writeFileSync(file, `#!/bin/sh\necho "$*" >> '${this.calls}'\n${script}\n`);
    chmodSync(file, 0o755);
    return { ASKD_PORT: "0", PATH: `${bin}:${process.env["PATH"]}` };
  }

  service(verb: string, env: Record<string, string> = {}): Promise<Ended> {
    return this.typeWith({ ASKD_PORT: "0", ...env }, "service", verb);
  }

  told(): string[] {
    return readFileSync(this.calls, "utf8").trimEnd().split("\n");
  }
}

describe("the service", { timeout: BOUND_MS }, () => {
  test("is started in the background, answers, and is stopped by its process", async () => {
    const at = new ServiceScene();
    expect(await at.service("status")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("No server is running"),
    });
    const started = await at.service("start");
    expect(started).toMatchObject({ exit: 0, stderr: expect.stringContaining("✓ Started in the background") });
    const url = started.stdout.toString("utf8");
    expect(url).toMatch(ADDRESS);
    expect((await fetch(`${url.trim()}/health`)).status).toBe(200);
    const again = await at.service("start");
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringContaining("Already running") });
    expect(again.stdout.toString("utf8")).toBe(url);
    const shown = await at.typeWith({}, "service", "status", "--json");
    const [pid] = at.workers();
    expect(JSON.parse(shown.stdout.toString("utf8"))).toMatchObject({ url: url.trim(), pid, is_installed: false });
    const stopped = await at.service("stop");
    expect(stopped).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`✓ Stopped the server (process ${pid})`),
    });
    expect(at.workers()).toEqual([]);
    const trail = JSON.parse((await at.typeWith({}, "audit", "--json")).stdout.toString("utf8"));
    expect(JSON.stringify(trail)).toContain(`"type":"service.stopped"`);
    expect(await at.service("stop")).toMatchObject({ exit: 0, stderr: "Nothing was running.\n" });
    expect((await at.typeWith({}, "service", "status", "--json")).exit).toBe(3);
  });

  test("stop ends the worker that a run started", async () => {
    const at = new ServiceScene();
    await at.type("run", "--", "sh", "-c", 'echo \'<<ASK_HUMAN>> {"question":"Which?"} <</ASK_HUMAN>>\'');
    await at.state("1", "waiting_input");
    const [pid] = at.workers();
    expect(statSync(join(at.home, "data/askd.lock.pid")).mode & 0o777).toBe(0o600);
    const stopped = await at.service("stop");
    expect(stopped).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`✓ Stopped the worker (process ${pid})`),
    });
    expect(at.workers()).toEqual([]);
    expect(await at.show("1")).toMatchObject({ status: "awaiting_input" });
  });

  test("that is installed is started and stopped by systemd", async () => {
    const at = new ServiceScene();
    const serve = `'${process.execPath}' '${join(process.cwd(), "bin/askd")}' --store 'sqlite:${at.home}/data/askd.db' serve`;
    const env = at.withSystemctl(`case "$2" in start) ${serve} </dev/null >/dev/null 2>&1 & esac`);
    const file = join(at.home, ".config/systemd/user/askd.service");
    const installed = await at.service("install", env);
    expect(installed.stdout.toString("utf8")).toBe(`${file}\n`);
    expect(installed.stderr).toContain("✓ askd will start when you log in. Start it now: ");
    expect(readFileSync(file, "utf8")).toContain(`Environment="ASKD_PORT=0"\n`);
    expect(await at.service("start", env)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("✓ Started by systemd"),
    });
    expect(await at.service("stop", env)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("✓ Stopped the server"),
    });
    expect((await at.service("uninstall", env)).exit).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect(at.told()).toEqual([
      "--user daemon-reload",
      "--user enable askd",
      "--user start askd",
      "--user stop askd",
      "--user disable --now askd",
    ]);
  });

  test("is started in the background where no systemd runs, though it is installed", async () => {
    const at = new ServiceScene();
    const env = at.withSystemctl("echo 'Failed to connect to bus: No medium found' >&2; exit 1");
    const installed = await at.service("install", env);
    expect(installed.stderr).toBe(
      "The file is written. Enable it in systemd: systemctl --user daemon-reload && systemctl --user enable askd\n",
    );
    expect(await at.service("start", env)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("✓ Started in the background"),
    });
    expect((await at.service("stop", env)).exit).toBe(0);
    expect(at.workers()).toEqual([]);
  });

  test("that systemd cannot start says why", async () => {
    const at = new ServiceScene();
    const fine = at.withSystemctl("exit 0");
    await at.service("install", fine);
    const env = at.withSystemctl("echo 'Job for askd.service failed.' >&2; exit 5");
    const refused = await at.service("start", env);
    expect(refused.exit).toBe(3);
    expect(refused.stderr).toContain("error: systemctl --user start askd failed (5): Job for askd.service failed.\n");
    expect(at.workers()).toEqual([]);
  });
});
