import { expect, test } from "vitest";
import { SYSTEM } from "../../../core/people/actor.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

const URL = "https://askd.example";

test.each([
  ["human", `You are lena (human), until 2026-04-01T12:00:00.000Z\nStore: ${URL}\nServer: ${URL}\n`],
  [
    "admin",
    `You are lena (admin), until 2026-04-01T12:00:00.000Z\nStore: ${URL}\nServer: ${URL}; sign in there with: askd login\n`,
  ],
] as const)("whoever has a %s token is told to make a code only where they may", async (scope, page) => {
  const scene = new Scene();
  const { text } = await scene.engine.issueToken({ scope, subject: "lena" }, SYSTEM);
  const { exit, stdout } = await type(scene, ["auth"], { env: { ASKD_URL: URL, ASKD_TOKEN: text } });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: page });
});

test("a code that is made with somebody's token signs in that person, whoever uses this machine", async () => {
  const scene = new Scene();
  await scene.know("cho");
  const { text } = await scene.engine.issueToken({ scope: "admin", subject: "cho" }, SYSTEM);
  const env = { ASKD_URL: URL, ASKD_TOKEN: text };
  const { exit, stdout } = await type(scene, ["login"], { env, user: "root" });
  expect(exit).toBe(0);
  expect((await scene.engine.redeemLogin(stdout.trim(), SYSTEM)).token).toMatchObject({
    subject: "cho",
    scope: "human",
  });
});
