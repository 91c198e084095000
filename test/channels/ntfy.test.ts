import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { ConfigHome } from "../config-home.ts";
import { Scene, said } from "../scene.ts";
import { type } from "../typed.ts";
import { channelSuite } from "./channel.suite.ts";
import { NtfyServer } from "./ntfy-server.ts";

const ABLE = { hasMentions: false, hasStatuses: true, isPublic: true, mayRepeat: true };
const TRAITS = { strength: "bearer", hasWords: false, ...ABLE } as const;

channelSuite("ntfy", TRAITS, () => NtfyServer.start());

test.each(["the question", "the outcome"])(
  "%s is there once, if the server dies before it replies and is back half a minute later",
  async (what) => {
    const ntfy = await NtfyServer.start();
    const scene = new Scene({ rules: { reach: [ntfy.reach] }, openChannel: () => Promise.resolve(ntfy.channel) });
    const passes = async () => {
      for (const seconds of [0, 2, 7, 40]) await scene.pass(seconds * SECOND_MS);
    };
    // Each attempt looks first and sends then.
    if (what === "the question") ntfy.dieAfterNext(4);
    const { question } = await scene.ask();
    await passes();
    if (what === "the outcome") ntfy.dieAfterNext(4);
    await scene.engine.answer(question.id, said("1"), ADA);
    await passes();
    await scene.pass(HOUR_MS);
    expect(ntfy.kept.map(({ title }) => title)).toEqual(["Redis or Memcached?", "✅ Answered by ada (cli): Redis"]);
    expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "closed" }]);
    await scene.engine.stop();
    await ntfy.close();
  },
);

test.each([
  ["a token that may not read the reply topic", "tk_sender", /the token may not read the reply topic/],
  ["a token that the server does not know", "tk_wrong", /the server refuses the token/],
  ["no token where the server wants one", undefined, /wants a token.*channels\.ntfy\.token_file/],
])("the check finds %s", async (_what, token, words) => {
  const ntfy = await NtfyServer.start();
  onTestFinished(() => ntfy.close());
  await expect(ntfy.withToken(token).verify()).rejects.toThrow(words);
});

test("the check accepts a token that may only write the questions, and read the replies", async () => {
  const ntfy = await NtfyServer.start();
  onTestFinished(() => ntfy.close());
  expect(await ntfy.withToken("tk_reader").verify()).toContain("topic on 127.0.0.1");
});

async function setUp(...flags: string[]) {
  const home = new ConfigHome();
  const world = { homeDir: home.home, cwd: home.project, env: { ASKD_CONFIG_SYSTEM: home.systemFile } };
  const done = await type(new Scene(), ["setup", "ntfy", "--no-test", ...flags], world);
  return { ...done, settings: () => readFileSync(home.userFile, "utf8") };
}

test("setup ntfy keeps both tokens of a server with rights, and says which rights they need", async () => {
  const { exit, stderr, settings } = await setUp("--token-file", "/t/askd", "--reply-token-file", "/t/buttons");
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(settings()).toMatch(/token_file = "\/t\/askd"\s+reply_token_file = "\/t\/buttons"/);
  expect(stderr).toMatch(/The token needs the rights to write to askd-q-\w+ and to read askd-a-\w+/);
  expect(stderr).toMatch(/The token in the buttons needs the right to write to askd-a-/);
  expect((await setUp()).stderr).not.toContain("rights");
});

test.each([
  ["a topic", ["my-topic"]],
  ["a token for the buttons alone", ["--reply-token-file", "/t/buttons"]],
])("setup ntfy refuses %s", async (_what, flags) => {
  const { exit, settings } = await setUp(...flags);
  expect(exit).toBe(2);
  expect(settings).toThrow(/ENOENT/);
});
