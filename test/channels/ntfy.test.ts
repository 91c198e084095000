import { expect, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { Scene, said } from "../scene.ts";
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
