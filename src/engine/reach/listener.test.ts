import { expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import type { InboundBatch } from "../../core/channel/channel.ts";
import type { RunId } from "../../core/id.ts";
import type { Run } from "../../core/run/run.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { MINUTE_MS } from "../../core/instant.ts";

const WAIT = { timeout: 30_000, interval: 20 };

/** A board that can be listened to, unless that fails. */
class HeardBoard extends Board {
  attempts = 0;
  trouble: string | undefined;
  batch: Omit<InboundBatch, "cursor"> = { replies: [], pairings: [] };
  readonly told: string[] = [];

  respond = (_respondTo: string, text: string) => {
    this.told.push(text);
    return Promise.resolve({ ok: true } as const);
  };

  async *listen(_cursor: string | undefined, signal: AbortSignal): AsyncIterable<InboundBatch> {
    this.attempts += 1;
    await Promise.resolve();
    if (this.trouble !== undefined) throw new Error(this.trouble);
    yield { cursor: "1", ...this.batch };
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

/** A store in memory that has lost the rows of some runs. */
class LosingStore extends MemoryStore {
  readonly lost = new Set<RunId>();

  override async findRun(id: RunId): Promise<Run | undefined> {
    return this.lost.has(id) ? undefined : super.findRun(id);
  }
}

/** Two questions that ada has in Telegram; the run of the first is gone from the store. */
async function aLostQuestion() {
  const board = new HeardBoard("telegram");
  let store: LosingStore | undefined;
  const scene = new Scene({
    rules: { reach: [{ name: "telegram", person: undefined, isPersonal: true }] },
    openChannel: () => Promise.resolve(board),
    store: (now) => (store = new LosingStore(now)),
  });
  await scene.engine.putPerson({ id: "ada", version: 0, groups: [], telegram: "42" }, SYSTEM);
  const lost = await scene.ask();
  await scene.pass(0);
  const { token } = board.only;
  const whole = await scene.ask({ question: "Which port?" });
  await scene.pass(0);
  const other = [...board.messages.values()].at(-1)?.token;
  store?.lost.add(lost.run.id);
  onTestFinished(() => scene.engine.stop());
  const isAnswered = async () => (await scene.engine.read(whole.question.id)).question.status === "answered";
  const last = { key: "2", from: "42", token: other, text: "A", respondTo: "second" };
  return { board, scene, token, last, isAnswered };
}

test("a reply to a question whose run is lost is told so, and does not keep the next one from being read", async () => {
  const { board, scene, token, last, isAnswered } = await aLostQuestion();
  board.batch = { replies: [{ ...last, key: "1", token, respondTo: "first" }, last], pairings: [] };
  void scene.engine.work();
  await expect.poll(isAnswered, WAIT).toBe(true);
  expect(board.told).toEqual([expect.stringMatching(/^The run r_\w+ of this question is gone from the store\.$/)]);
  expect((await scene.engine.listChannels())[0]?.outage).toBeUndefined();
});

test("nor does a message that came back, or a pairing, where a lost question waits", async () => {
  const { board, scene, token, last, isAnswered } = await aLostQuestion();
  const { text: code } = await scene.engine.issueToken({ scope: "login", subject: "lena", grants: "telegram" }, SYSTEM);
  board.batch = {
    pairings: [{ key: "1", from: "43", code, respondTo: "" }],
    failures: [{ token, why: "no such person" }],
    replies: [last],
  };
  void scene.engine.work();
  await expect.poll(isAnswered, WAIT).toBe(true);
  expect(await scene.engine.findPerson("lena")).toMatchObject({ telegram: "43" });
  expect(board.told).toEqual([expect.stringContaining("paired as lena")]);
});
