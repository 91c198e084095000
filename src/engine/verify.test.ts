import { expect, test } from "vitest";
import { ADA, IDS } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { recordLate } from "../core/answer.ts";
import { SYSTEM } from "../core/actor.ts";
import { hashText } from "../core/content.ts";
import { type RunId, STORE_CHAIN } from "../core/id.ts";
import type { Store } from "../store/store.ts";
import { verify } from "./verify.ts";

type Chain = Awaited<ReturnType<Store["readChain"]>>;

async function busyScene(): Promise<Scene> {
  const scene = new Scene();
  await scene.pass(0);
  for (let count = 0; count < 5; count += 1) {
    const { question } = await scene.ask({ question: `Question ${count}?` });
    if (count % 2 === 0) await scene.engine.answer(question.id, said("1"), ADA);
  }
  await scene.pass(3_600_000);
  return scene;
}

test("an untouched trail has no problems, and it is sealed", async () => {
  const scene = await busyScene();
  expect(await scene.engine.verify()).toEqual({ runs: 5, events: 5 * 2 + 3 * 2, seals: 1, problems: [] });
});

test("seals go on with what came since the last one", async () => {
  const scene = await busyScene();
  await scene.ask();
  await scene.pass(3_600_000);
  await scene.pass(3_600_000);
  expect(await scene.engine.verify()).toMatchObject({ seals: 2, problems: [] });
});

test("a late reply that is written down while the question goes on is no damage", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  const late = await scene.engine.answer(question.id, said("1"), ADA);
  await scene.engine.amend(question.id, "Memcached after all", ADA);
  const at = { now: scene.now, by: ADA, ids: IDS, rules: scene.rules };
  expect(await scene.store.commit(recordLate(late, said("2"), at))).toMatchObject({ ok: true });
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("tokens and people are in the trail, which is checked and sealed like that of a run", async () => {
  const scene = await busyScene();
  const { token } = await scene.engine.issueToken({ scope: "agent", subject: "ci" }, SYSTEM);
  await scene.engine.putPerson({ id: "lena", version: 0, groups: ["ops"] }, SYSTEM);
  await scene.engine.putPerson({ id: "lena", version: 1, groups: [] }, SYSTEM);
  await scene.engine.revokeToken(token.id, SYSTEM);
  const chain = await scene.store.readChain(STORE_CHAIN);
  expect(chain.events.map(({ event }) => [event.type, event.from, event.to, event.version])).toEqual([
    ["token.made", undefined, "usable", 1],
    ["person.added", undefined, "listed", 1],
    ["person.changed", "listed", "listed", 2],
    ["token.revoked", "usable", "revoked", 2],
  ]);
  for (const [kind, id] of [
    ["token", token.id],
    ["person", "lena"],
  ] as const) {
    const entry = await scene.store.findEntry(kind, id);
    const last = chain.events.findLast(({ event }) => event.detail?.["id"] === id)?.event;
    expect(last?.detail).toMatchObject({ kind, body: hashText(JSON.stringify(entry?.body)) });
    expect(last?.version).toBe(entry?.version);
  }
  await scene.pass(3_600_000);
  expect(await scene.engine.verify()).toEqual({ runs: 5, events: 5 * 2 + 3 * 2 + 4, seals: 2, problems: [] });
  const forged = (over: (chain: Chain) => Chain): Store => {
    const readChain = async (runId: RunId): Promise<Chain> => {
      const read = await scene.store.readChain(runId);
      return runId === STORE_CHAIN ? over(read) : read;
    };
    return Object.assign(Object.create(scene.store) as Store, bound(scene.store), { readChain });
  };
  const changed = forged(({ events, head }) => ({
    events: events.map((kept) => ({ ...kept, body: kept.body.replace('"agent"', '"admin"') })),
    head,
  }));
  expect((await verify(changed)).problems[0]).toBe(
    "tokens and people: line 1 of their trail is missing or was changed",
  );
  const cut = forged(({ events, head }) => ({ events: events.slice(0, -1), head }));
  expect((await verify(cut)).problems).toEqual([
    "tokens and people: line 3 of their trail is missing or was changed",
    expect.stringContaining("was rewritten before line 4"),
  ]);
});

test("a rewritten line, a lost line and a changed state are found", async () => {
  const { store } = await busyScene();
  const tampered = (over: Partial<Store>): Store => Object.assign(Object.create(store) as Store, bound(store), over);
  const rewritten = tampered({
    readChain: async (runId) => {
      const chain = await store.readChain(runId);
      return {
        ...chain,
        events: chain.events.map((kept) => ({ ...kept, body: kept.body.replace("pending", "answered") })),
      };
    },
  });
  expect((await verify(rewritten)).problems[0]).toMatch(/line 2 of its trail was changed/);
  const shortened = tampered({
    readChain: async (runId) => {
      const chain = await store.readChain(runId);
      return { ...chain, events: chain.events.slice(0, -1) };
    },
  });
  expect((await verify(shortened)).problems[0]).toMatch(/its trail ends at line/);
  const changed = tampered({
    listQuestions: async (filter) =>
      (await store.listQuestions(filter)).map((question) => ({ ...question, version: 9 })),
  });
  expect((await verify(changed)).problems[0]).toMatch(/at version 9, its trail says/);
});

function bound(store: Store): Partial<Store> {
  return {
    findRun: (id) => store.findRun(id),
    readChain: (id) => store.readChain(id),
    listRuns: (filter) => store.listRuns(filter),
    listQuestions: (filter) => store.listQuestions(filter),
    listSeals: (after, limit) => store.listSeals(after, limit),
  };
}
