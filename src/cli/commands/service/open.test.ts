import { afterEach, describe, expect, test } from "vitest";
import { Everyday, fixedScene } from "../../../../test/everyday.ts";
import { Scene } from "../../../../test/scene.ts";
import { ServedScene } from "../../../../test/served.ts";
import { type } from "../../../../test/typed.ts";
import type { Child, Detached } from "../../context.ts";
import { findBrowser } from "../../terminal/browser.ts";
import type { ProcessWorld } from "../../process.ts";

let served: ServedScene | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

/** A terminal with a browser that writes down what it is to show. */
function desk(env: Record<string, string> = { BROWSER: "links -g" }) {
  const shown: Child[] = [];
  const errors: string[] = [];
  const over: Partial<ProcessWorld> = {
    env,
    stderr: { isTty: true, columns: 80, write: (text) => void errors.push(text) },
    runChild: (child) => {
      shown.push(child);
      return Promise.resolve({ exitCode: 0, stdout: "" });
    },
  };
  return { over, shown, said: () => errors.join("") };
}

describe("open", () => {
  test("shows a question in the browser of the person, and prints a link that signs them in once", async () => {
    const scene = fixedScene();
    served = await ServedScene.start({}, scene);
    await scene.ask();
    const { over, shown, said } = desk();
    const findServer = () => Promise.resolve(served?.url);
    const { stdout, exit } = await type(scene, ["open", "1"], { ...over, findServer });
    const url = `${served.url}/q/7k3fmn8pqrstvwxy`;
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${url}\n` });
    expect(shown).toEqual([{ argv: ["links", "-g", url], stdio: "inherit" }]);
    const link = new URL(/open this link once: (\S+)\n$/.exec(said())?.[1] ?? "");
    expect(link.origin).toBe(served.url);
    const shownPage = await served.send("GET", `${link.pathname}${link.search}`);
    expect(shownPage.status).toBe(200);
    const code = link.searchParams.get("code") ?? "";
    expect(link.searchParams.get("next")).toBe("/q/7k3fmn8pqrstvwxy");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await served.send("POST", "/login", { body: `code=${code}`, headers: form })).status).toBe(303);
    expect((await served.send("POST", "/login", { body: `code=${code}`, headers: form })).status).toBe(401);
  });

  test("prints the address where there is no display, or where only that is wanted", async () => {
    const scene = fixedScene();
    served = await ServedScene.start({}, scene);
    const run = await scene.startedRun();
    const findServer = () => Promise.resolve(served?.url);
    for (const [argv, env] of [
      [["open", "1"], {}],
      [["open", "add-caching", "--print"], { BROWSER: "links" }],
    ] as const) {
      const { over, shown, said } = desk(env);
      const { stdout } = await type(scene, argv, { ...over, findServer });
      expect(stdout).toBe(`${served.url}/r/${run.number}\n`);
      expect(shown).toEqual([]);
      // A person without a display opens the link elsewhere; a script gets the address alone.
      expect(said().includes("open this link once:")).toBe(argv.length === 2);
    }
    const { stdout } = await type(scene, ["open", "1", "--json"], { ...desk().over, findServer });
    expect(JSON.parse(stdout)).toEqual({ url: `${served.url}/r/1` });
    const headers = { cookie: `askd_session=${await served.token()}`, accept: "text/html" };
    const page = await served.send("GET", "/r/1", { headers });
    expect([page.status, page.headers.get("location")]).toEqual([303, `/r/${run.id}`]);
    expect((await served.send("GET", `/r/${run.id}`, { headers })).status).toBe(200);
  });

  test("says so when the browser does not start", async () => {
    const scene = fixedScene();
    served = await ServedScene.start({}, scene);
    await scene.ask();
    const { over, said } = desk();
    const world = {
      ...over,
      findServer: () => Promise.resolve(served?.url),
      runChild: () => Promise.reject(new Error()),
    };
    expect((await type(scene, ["show", "1", "--web"], world)).exit).toBe(0);
    expect(said()).toContain("The browser did not start; open the address yourself\n");
  });

  test("starts a server where there is none, also where a dead one left its word", async () => {
    const scene = fixedScene();
    await scene.ask();
    const started: Detached[] = [];
    const world: Partial<ProcessWorld> = {
      detach: async (child) => {
        started.push(child);
        served = await ServedScene.start({}, scene);
      },
      findServer: () => Promise.resolve(served?.url ?? "http://127.0.0.1:9"),
    };
    const { stdout, stderr, exit } = await type(scene, ["open", "1", "--print"], { ...world, env: { SECRET: "x" } });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "Starting the server…\n" });
    expect(stdout).toBe(`${served?.url}/q/7k3fmn8pqrstvwxy\n`);
    expect(started).toMatchObject([{ argv: ["askd", "--store", expect.stringMatching(/^sqlite:/), "serve"], env: {} }]);
  });

  test("refuses where nothing may be started, or where it does not start", async () => {
    const scene = new Scene();
    await scene.ask();
    const off = await type(scene, ["open", "1"], { env: { CI: "1" } });
    expect(off).toMatchObject({ exit: 3, stderr: "error: No server is running\n  Start it with: askd serve\n" });
    const dead = await type(scene, ["open", "1"], { detach: () => Promise.resolve() });
    expect(dead.exit).toBe(3);
    expect(dead.stderr).toContain("error: The server did not start; ");
  });

  test("starts no server for an agent in its run", async () => {
    const day = await Everyday.begin();
    const started: Detached[] = [];
    const world: Partial<ProcessWorld> = {
      env: { ASKD_RUN: (await day.run(43)).id },
      detach: (child) => Promise.resolve(void started.push(child)),
    };
    const { exit, stderr } = await day.type(["open", "42"], world);
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: "error: No server is running\n  Start it with: askd serve\n" });
    expect(started).toEqual([]);
  });

  test("never gives an agent in its run a code", async () => {
    const day = await Everyday.begin();
    served = await ServedScene.start({}, day.scene);
    const { over, said } = desk({ BROWSER: "links", ASKD_RUN: (await day.run(43)).id });
    await day.type(["open", "42"], { ...over, findServer: () => Promise.resolve(served?.url) });
    expect(said()).toBe("");
  });
});

test.each([
  [{ BROWSER: "firefox -P work %s:w3m" }, "linux", ["firefox", "-P", "work"]],
  [{ BROWSER: "" }, "linux", undefined],
  [{ DISPLAY: ":0" }, "linux", ["xdg-open"]],
  [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", ["xdg-open"]],
  [{}, "darwin", ["open"]],
  [{}, "win32", ["rundll32", "url.dll,FileProtocolHandler"]],
] as const)("with %j on %s the browser is %j", (env, platform, argv) => {
  expect(findBrowser({ env, platform })?.argv).toEqual(argv);
});
