import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { githubChannel } from "../../src/channels/github/github.ts";
import type { GithubSettings } from "../../src/core/channel/channel-settings.ts";
import { ConfigHome } from "../config-home.ts";
import { Scene } from "../scene.ts";
import { type } from "../typed.ts";
import { GithubServer } from "./github-server.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { REPO } from "./github-view.ts";

/** The browser of a person who agrees: it opens the page, sends its form to GitHub, and follows the way back. */
async function agreeAt(page: string, change: (location: URL) => void = () => undefined) {
  const html = await (await fetch(page)).text();
  const unescape = (text = "") => text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  const [, action] = /action="([^"]+)"/.exec(html) ?? [];
  const [, manifest] = /name="manifest" value="([^"]+)"/.exec(html) ?? [];
  const body = new URLSearchParams({ manifest: unescape(manifest) });
  const agreed = await fetch(unescape(action), { method: "POST", body, redirect: "manual" });
  const back = new URL(agreed.headers.get("location") ?? "");
  change(back);
  return fetch(back);
}

async function aStage(text = "") {
  const service = await GithubServer.start();
  onTestFinished(async () => {
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  const home = new ConfigHome();
  if (text !== "") home.write(home.userFile, text);
  const pages: string[] = [];
  const acts: Promise<unknown>[] = [];
  const run = (onPage: (page: string) => Promise<unknown>, ...argv: string[]) =>
    type(new Scene(), ["setup", "github", REPO, "--app", "--server", service.base, "--no-test", ...argv], {
      homeDir: home.home,
      cwd: home.project,
      env: { ASKD_CONFIG_SYSTEM: home.systemFile, BROWSER: "browser" },
      runChild: ({ argv: [, page = ""] }: { argv: readonly string[] }) => {
        pages.push(page);
        acts.push(onPage(page));
        return Promise.resolve({ exitCode: 0, stdout: "" });
      },
    });
  return { service, home, run, acts, folder: join(home.home, ".config/askd") };
}

test("an app is made from its manifest by a page on this machine, and its key is readable by its owner only", async () => {
  const { service, home, run, acts, folder } = await aStage('[server]\npublic_url = "https://askd.example.com"\n');
  const { exit, stderr } = await run((page) => agreeAt(page));
  await Promise.all(acts);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(stderr).toContain("https://github.com/apps/askd-acme/installations/new");
  expect(service.apps.manifest).toMatchObject({
    hook_attributes: { url: "https://askd.example.com/hooks/github", active: true },
    default_events: ["issue_comment", "issues"],
  });
  const keyFile = join(folder, "github-app-key.pem");
  expect(readFileSync(keyFile, "utf8")).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
  expect(statSync(keyFile).mode & 0o077).toBe(0);
  expect(readFileSync(join(folder, "github-webhook-secret"), "utf8").trim()).toBe(service.apps.secret);
  expect(readFileSync(home.userFile, "utf8")).toMatch(/mode = "app"[^[]*app_id = 4711/);
  expect(stderr).not.toMatch(/BEGIN|ssss/);

  const readKey = () => readFileSync(keyFile, "utf8");
  const channel = githubChannel(service.settings({ app: { id: 4711, readKey }, readToken: () => "none" }), OUTBOUND);
  await expect(channel.verify()).rejects.toThrow(`the app is not installed in ${REPO}`);
  service.apps.isInstalled = true;
  expect(await channel.verify()).toBe(`comments in ${REPO}`);
});

test("as an app, with no token of a person, a question is posted and its reply counts", async () => {
  const { service, run, acts, folder } = await aStage();
  await run((page) => agreeAt(page));
  await Promise.all(acts);
  service.apps.isInstalled = true;
  const readKey = () => readFileSync(join(folder, "github-app-key.pem"), "utf8");
  const readToken = () => {
    throw new Error("no token of a person is read");
  };
  const channel = githubChannel(service.settings({ app: { id: 4711, readKey }, readToken }), OUTBOUND);
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(channel) });
  const { question } = await scene.ask({ options: ["Redis", "Memcached"] });
  await scene.pass(0);
  expect(service.shown()).toHaveLength(1);
  const working = scene.engine.work();
  await service.say("B");
  await expect
    .poll(async () => (await scene.engine.read(question.id)).question.status, { timeout: 20_000 })
    .toBe("answered");
  await scene.engine.stop();
  await working;
  expect(service.apps.tokens.size).toBe(1);
});

/** The settings of an app that was just made, with no token of a person. */
async function anApp(over: Partial<GithubSettings> = {}) {
  const { service, run, acts, folder } = await aStage();
  await run((page) => agreeAt(page), "--organisation", "acme");
  await Promise.all(acts);
  service.apps.isInstalled = true;
  const readKey = () => readFileSync(join(folder, "github-app-key.pem"), "utf8");
  const readToken = () => {
    throw new Error("no token of a person is read");
  };
  const settings = service.settings({ app: { id: 4711, readKey }, readToken, ...over });
  return { service, channel: githubChannel(settings, OUTBOUND) };
}

test("the app of an organisation may read teams, and each request has the token of the place it is about", async () => {
  const { service, channel } = await anApp({ repos: ["other/first", REPO] });
  service.apps.installations["other"] = 98;
  expect(service.apps.manifest?.default_permissions).toMatchObject({ members: "read" });
  expect(await channel.verify()).toBe(`comments in other/first, ${REPO}`);
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(channel) });
  const { question } = await scene.ask({ options: ["Redis", "Memcached"], issue: { repo: REPO, number: 123 } });
  const status = async (id = question.id) => (await scene.engine.read(id)).question.status;
  await scene.pass(0);
  const working = scene.engine.work();
  for (let count = 0; count < 101; count += 1) service.add(`me too ${count}`, "stranger");
  await service.tick(service.comments[0]!, "- [ ] **A) Redis**", "cho");
  await expect.poll(status, { timeout: 20_000 }).toBe("answered");
  await scene.engine.stop();
  await working;
  expect(new Set(service.apps.tokens.values())).toEqual(new Set([98, 99]));
});

test("a token of the app that GitHub refuses before its time is replaced at once", async () => {
  const { service, channel } = await anApp();
  await channel.verify();
  service.apps.tokens.clear();
  expect(await channel.verify()).toBe(`comments in ${REPO}`);
  expect(service.apps.tokens.size).toBe(1);
});

/** A terminal in which gh is installed, and a person who types this when asked for the token. */
async function atTerminal(typed: string | undefined, { exitCode = 0, hasGh = true, argv = [] as string[] } = {}) {
  const home = new ConfigHome();
  if (hasGh) {
    home.write(join(home.home, "bin/gh"), "#!/bin/sh\n");
    chmodSync(join(home.home, "bin/gh"), 0o755);
  }
  const asked: string[] = [];
  const done = await type(new Scene(), ["setup", "github", `${REPO}#123`, "--no-test", ...argv], {
    homeDir: home.home,
    cwd: home.project,
    env: { ASKD_CONFIG_SYSTEM: home.systemFile, PATH: join(home.home, "bin") },
    stdin: { isTty: true, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(typed) },
    runChild: (child) => {
      asked.push(child.argv.slice(1).join(" "));
      return Promise.resolve({ exitCode, stdout: exitCode === 0 ? "gho_0123456789abcdef\n" : "" });
    },
  });
  return { ...done, asked, token: join(home.home, ".config/askd/github-token") };
}

test("setup github takes the token of gh if the person accepts it, and only then", async () => {
  const taken = await atTerminal("");
  expect(taken).toMatchObject({ exit: 0, asked: ["auth token --hostname github.com"] });
  expect(taken.stderr).toContain("or press Enter to use the token of gh");
  expect(taken.stderr).not.toContain("gho_");
  expect(readFileSync(taken.token, "utf8")).toBe("gho_0123456789abcdef\n");
  expect(statSync(taken.token).mode & 0o077).toBe(0);
  const own = await atTerminal("github_pat_0123456789");
  expect(own).toMatchObject({ exit: 0, asked: [] });
  expect(readFileSync(own.token, "utf8")).toBe("github_pat_0123456789\n");
  const server = await atTerminal("", { argv: ["--server", "https://github.example.com/api/v3"] });
  expect(server.asked).toEqual(["auth token --hostname github.example.com"]);
});

test.each([
  [
    "gh is not signed in",
    "",
    { exitCode: 4 },
    /gh is not signed in to github.com[^]*gh auth login --hostname github.com/,
  ],
  ["gh is not there", "", { hasGh: false }, /This is no token of GitHub/],
  ["the person leaves", undefined, {}, /This is no token of GitHub/],
])("nothing is set up without a token: %s", async (_why, typed, terminal, words) => {
  const { exit, stderr, token } = await atTerminal(typed, terminal);
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(words);
  expect(() => readFileSync(token, "utf8")).toThrow(/ENOENT/);
});

test("a way back with another state or no code makes nothing, and no other page is there", async () => {
  const { service, run, acts } = await aStage();
  const statuses: number[] = [];
  const { exit } = await run(async (page) => {
    statuses.push((await agreeAt(page, (back) => back.searchParams.set("state", "0".repeat(32)))).status);
    statuses.push((await agreeAt(page, (back) => back.searchParams.delete("code"))).status);
    statuses.push((await fetch(new URL("/other", page))).status);
    statuses.push((await fetch(page, { method: "POST" })).status);
    statuses.push((await agreeAt(page)).status);
  });
  await Promise.all(acts);
  expect(exit).toBe(0);
  expect(statuses).toEqual([404, 404, 404, 404, 200]);
  expect(service.apps.manifest).not.toHaveProperty("hook_attributes");
});
