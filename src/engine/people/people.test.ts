import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Scene } from "../../../test/scene.ts";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { STORE_CHAIN } from "../../core/id.ts";
import { DAY_MS, later } from "../../core/instant.ts";
import type { Token } from "../../core/people/token.ts";

const person = (id: string): Actor => ({ ...ADA, id });

async function stage(...names: string[]): Promise<Scene> {
  const scene = new Scene();
  for (const id of names) await scene.engine.putPerson({ id, version: 0, groups: [] }, SYSTEM);
  return scene;
}

async function eventsOf({ store }: Scene): Promise<string[]> {
  return (await store.readChain(STORE_CHAIN)).events.map(({ event }) => event.type);
}

async function isIn({ engine }: Scene, text: string): Promise<boolean> {
  return (await engine.authenticate(text, "api")) !== undefined;
}

async function tokenNamed({ engine }: Scene, name: string): Promise<Token | undefined> {
  return (await engine.listTokens(SYSTEM)).find((token) => token.name === name);
}

test("two tokens of one subject are told apart by id and name, and revoked one by one", async () => {
  const scene = await stage("ada");
  const one = await scene.engine.issueToken({ scope: "agent", subject: "ci", name: "nightly" }, person("ada"));
  const two = await scene.engine.issueToken({ scope: "agent", subject: "ci", name: "release" }, person("ada"));
  expect(one.token.id).not.toBe(two.token.id);
  expect([one.token.maker, two.token.maker]).toEqual(["ada", "ada"]);
  await scene.engine.revokeToken(two.token.id, SYSTEM);
  expect([await isIn(scene, one.text), await isIn(scene, two.text)]).toEqual([true, false]);
  await scene.engine.revokeToken(two.token.id, SYSTEM);
  expect((await eventsOf(scene)).filter((type) => type === "token.revoked")).toHaveLength(1);
});

test("a name that could be the id of a token is refused", async () => {
  const scene = await stage();
  for (const name of ["3f9a1c00", "", "a\nb"]) {
    await expect(scene.engine.issueToken({ scope: "agent", subject: "ci", name }, SYSTEM)).rejects.toMatchObject({
      code: "bad_input",
    });
  }
});

test("a token ends 90 days after it was last used; the first use of a day is written down", async () => {
  const scene = await stage();
  const { text, token } = await scene.engine.issueToken({ scope: "agent", subject: "ci", name: "ci" }, SYSTEM);
  expect(token.expiresAt).toBe(later(token.createdAt, 90 * DAY_MS));
  await Promise.all(Array.from({ length: 20 }, () => scene.engine.authenticate(text, "api")));
  for (let count = 0; count < 5; count += 1) await scene.engine.authenticate(text, "api");
  expect(await eventsOf(scene)).toEqual(["token.made", "token.used"]);
  for (let months = 0; months < 3; months += 1) {
    await scene.pass(60 * DAY_MS);
    expect(await isIn(scene, text)).toBe(true);
  }
  const used = await tokenNamed(scene, "ci");
  expect([used?.usedAt, used?.expiresAt]).toEqual([scene.now, later(scene.now, 90 * DAY_MS)]);
  await scene.pass(91 * DAY_MS);
  expect(await isIn(scene, text)).toBe(false);
  expect((await eventsOf(scene)).slice(-2)).toEqual(["token.used", "token.expired"]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("a token with an end of its own is not renewed, and one without any lasts", async () => {
  const scene = await stage();
  const input = { scope: "agent", subject: "ci" } as const;
  const short = await scene.engine.issueToken({ ...input, expiresAt: later(scene.now, DAY_MS) }, SYSTEM);
  const lasting = await scene.engine.issueToken({ ...input, expiresAt: "never" }, SYSTEM);
  await scene.pass(DAY_MS - 1);
  expect([await isIn(scene, short.text), await isIn(scene, lasting.text)]).toEqual([true, true]);
  await scene.pass(2);
  expect([await isIn(scene, short.text), await isIn(scene, lasting.text)]).toEqual([false, true]);
  await scene.pass(400 * DAY_MS);
  expect(await isIn(scene, lasting.text)).toBe(true);
});
