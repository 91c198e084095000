import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SYSTEM } from "../../../core/people/actor.ts";
import { DAY_MS } from "../../../core/instant.ts";
import { Scene } from "../../../../test/scene.ts";
import { ServedScene } from "../../../../test/served.ts";
import { type } from "../../../../test/typed.ts";

const PUBLIC = "https://askd.example.com";

const home = mkdtempSync(join(tmpdir(), "askd-invite-"));
mkdirSync(join(home, "config"));
writeFileSync(join(home, "config", "config.toml"), `[server]\npublic_url = "${PUBLIC}"\n`);
afterAll(() => rmSync(home, { recursive: true, force: true }));
/** A machine whose server has a public address. */
const REACHABLE = { env: { ASKD_HOME: home } };

function codeIn(stdout: string) {
  const url = new URL(stdout.trim());
  return { origin: url.origin, code: url.searchParams.get("code") ?? "", person: url.searchParams.get("as") };
}

test("adds a colleague and prints a link by which they sign in once, under the public address", async () => {
  const scene = new Scene();
  const { exit, stdout, stderr } = await type(scene, ["invite", "lena", "--email", "lena@example.com"], REACHABLE);
  expect(exit).toBe(0);
  const { origin, code, person } = codeIn(stdout);
  expect([origin, person]).toEqual([PUBLIC, "lena"]);
  expect(stderr).toBe("lena was added. Whoever opens this link signs in as lena; it works once, within 3d\n");
  expect(await scene.engine.findPerson("lena")).toMatchObject({ email: "lena@example.com" });
  await scene.pass(2 * DAY_MS);
  const { token } = await scene.engine.redeemLogin(code, SYSTEM);
  expect(token).toMatchObject({ subject: "lena", scope: "human" });
  await expect(scene.engine.redeemLogin(code, SYSTEM)).rejects.toThrow("not valid any more");
});

test("a link that nobody opens ends after three days", async () => {
  const scene = new Scene();
  await scene.know("lena");
  const { stdout } = await type(scene, ["invite", "lena"], REACHABLE);
  await scene.pass(3 * DAY_MS + 1);
  await expect(scene.engine.redeemLogin(codeIn(stdout).code, SYSTEM)).rejects.toThrow("not valid any more");
});

test("an agent in its run invites nobody", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const { exit } = await type(scene, ["invite", "lena"], { env: { ...REACHABLE.env, ASKD_RUN: run.id } });
  expect(exit).not.toBe(0);
  expect(await scene.engine.findPerson("lena")).toBeUndefined();
});

test("details of somebody who is on the list already are not quietly ignored", async () => {
  const scene = new Scene();
  await scene.know("lena");
  const { exit, stderr } = await type(scene, ["invite", "lena", "--group", "ops"], REACHABLE);
  expect(exit).toBe(2);
  expect(stderr).toContain("askd user set lena");
});

test("an address that works on this machine only is said to be one", async () => {
  const scene = new Scene();
  const served = await ServedScene.start({}, scene);
  const { stdout, stderr } = await type(scene, ["invite", "lena"], { findServer: () => Promise.resolve(served.url) });
  await served.stop();
  expect(codeIn(stdout).origin).toBe(served.url);
  expect(stderr).toContain(
    "works on this machine only. For others: askd config set server.public_url https://<name>\n",
  );
});
