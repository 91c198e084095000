import { expect, test } from "vitest";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import type { InboundBatch } from "../../core/channel/channel.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { MINUTE_MS } from "../../core/instant.ts";

const WAIT = { timeout: 30_000, interval: 20 };

/** A board that can be listened to, unless that fails. */
class HeardBoard extends Board {
  attempts = 0;
  trouble: string | undefined;

  async *listen(_cursor: string | undefined, signal: AbortSignal): AsyncIterable<InboundBatch> {
    this.attempts += 1;
    await Promise.resolve();
    if (this.trouble !== undefined) throw new Error(this.trouble);
    yield { cursor: "1", replies: [], pairings: [] };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }
}

test("replies that cannot be read for ten minutes are shown and told elsewhere once, and over when they can be", async () => {
  const failing = new HeardBoard("telegram");
  const working = new Board("ntfy");
  const openChannel = (name: string) => Promise.resolve(name === "telegram" ? failing : working);
  const reach = [
    { name: "telegram", person: undefined, isPersonal: true },
    { name: "ntfy", person: "ada", isPersonal: false },
  ];
  const at = { rules: { reach }, openChannel };
  const scene = new Scene(at);
  await scene.engine.putPerson({ id: "ada", version: 0, groups: [], telegram: "42" }, SYSTEM);
  failing.trouble = "terminated by other getUpdates request";
  const since = scene.now;
  void scene.engine.work();
  const findOutage = async () => (await scene.engine.listChannels())[0]?.outage;
  await expect.poll(findOutage, WAIT).toEqual({
    person: "ada",
    since,
    why: "replies are not read: terminated by other getUpdates request",
  });
  expect((await scene.engine.findTroubles()).outages).toEqual([]);
  expect(working.calls).toEqual([]);
  scene.skip(11 * MINUTE_MS);
  await expect.poll(() => working.messages.size, WAIT).toBe(1);
  expect(working.only.text).toBe(
    "⚠️ askd cannot read replies in Telegram since 12:00 UTC: terminated by other getUpdates request. Answer in your inbox until it can. See: askd channels",
  );
  expect((await scene.engine.findTroubles()).outages).toMatchObject([{ channel: "telegram", person: "ada", since }]);
  expect((await scene.engine.verify()).problems).toEqual([]);
  await scene.engine.stop();

  failing.trouble = undefined;
  const next = new Scene({ ...at, store: () => scene.store });
  void next.engine.work();
  await expect.poll(findOutage, WAIT).toBeUndefined();
  await next.engine.stop();
  expect(working.calls).toEqual(["send"]);
});

test("a connection that ends and is there again at once is no outage", async () => {
  const board = new HeardBoard();
  const reach = [{ name: "board", person: "ada", isPersonal: false }];
  const scene = new Scene({ rules: { reach }, openChannel: () => Promise.resolve(board) });
  board.trouble = "the stream has ended";
  void scene.engine.work();
  await expect.poll(() => board.attempts, WAIT).toBe(1);
  board.trouble = undefined;
  await expect.poll(() => board.attempts, WAIT).toBe(2);
  expect(await scene.store.listEntries("outage")).toEqual([]);
  await scene.engine.stop();
});
