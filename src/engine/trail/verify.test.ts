import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, IDS } from "../../../test/builders.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { Scene, said } from "../../../test/scene.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { anchorOf } from "../../core/trail/anchor.ts";
import { recordLate } from "../../core/answer/answer.ts";
import { STORE_CHAIN } from "../../core/id.ts";
import { openDatabase } from "../../sqlite.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import { sealTrail } from "../jobs/seal-job.ts";
import { verify } from "./verify.ts";

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
  expect(await scene.engine.verify()).toEqual({ runs: 5, events: 5 * 2 + 3 * 2, seals: 2, problems: [] });
});

test("seals go on with what came since the last one", async () => {
  const scene = await busyScene();
  await scene.ask();
  await scene.pass(3_600_000);
  await scene.pass(3_600_000);
  expect(await scene.engine.verify()).toMatchObject({ seals: 3, problems: [] });
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
  await scene.pass(3_600_000);
  expect(await scene.engine.verify()).toEqual({ runs: 5, events: 5 * 2 + 3 * 2 + 4, seals: 3, problems: [] });
});

test("a store that was replaced together with its seals differs from an anchor outside", async () => {
  const first = await busyScene();
  const sealed = await first.engine.seal();
  if (!sealed) throw new Error("nothing was sealed");
  const anchors = [anchorOf(sealed)];
  expect((await first.engine.verify({ anchors })).problems).toEqual([]);
  const replaced = await busyScene();
  expect((await replaced.engine.verify()).problems).toEqual([]);
  const { problems } = await replaced.engine.verify({ anchors });
  expect(problems).toEqual([expect.stringContaining("is not the one that was anchored outside")]);
});

test("commits that come while the trail is verified are no damage", async () => {
  const directory = mkdtempSync(join(tmpdir(), "askd-verify-"));
  const [store, other] = [
    await openSqliteStore(join(directory, "askd.db")),
    await openSqliteStore(join(directory, "askd.db")),
  ];
  const scene = new Scene({ store: () => other });
  await scene.ask();
  const state = { isDone: false, asks: 0 };
  const writing = (async () => {
    for (; !state.isDone; state.asks += 1) {
      const { question } = await scene.ask({ question: `Question ${state.asks}?` });
      await scene.engine.answer(question.id, said("1"), ADA);
    }
  })();
  for (let count = 0; count < 10 || state.asks < 10; count += 1) expect((await verify(store)).problems).toEqual([]);
  state.isDone = true;
  await writing;
  await Promise.all([store.close(), other.close()]);
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

test("sealing ends at what was there when it began, however much others write meanwhile", async () => {
  const scene = new Scene();
  await scene.ask();
  await scene.ask();
  let seals = 0;
  const busy = overriding(scene.store, {
    commit: async (changes) => {
      const committed = await scene.store.commit(changes);
      if (changes.seals && (seals += 1) < 10) await scene.ask();
      return committed;
    },
  });
  await sealTrail(busy, scene.now);
  expect(seals).toBe(1);
});

/** Two questions in a SQLite store, whose runs have the lines 1 and 2, and 3 and 4 of the feed; only the first is sealed. */
async function twoQuestions() {
  const directory = mkdtempSync(join(tmpdir(), "askd-verify-"));
  const store = await openSqliteStore(join(directory, "askd.db"));
  const database = openDatabase(join(directory, "askd.db"));
  onTestFinished(async () => {
    database.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const scene = new Scene({ store: () => store });
  await scene.ask();
  await scene.ask();
  const lines = database.prepare<{ seq: number; n: number }>("select seq, n from event order by seq").all();
  expect(lines.map(({ seq, n }) => [seq, n])).toEqual([1, 2, 3, 4].map((seq) => [seq, seq % 2 === 1 ? 1 : 2]));
  expect((await verify(store)).problems).toEqual([]);
  return { store, scene, edit: (sql: string) => database.exec(sql) };
}

test("lines of two runs that changed places in the feed are found by the seal, though both chains are whole", async () => {
  const { store, scene, edit } = await twoQuestions();
  await scene.engine.seal();
  edit(`begin;
    update event set seq = -1 where seq = 2;
    update event set seq = 2 where seq = 3;
    update event set seq = 3 where seq = -1;
    update event set before = 2 where seq = 4;
    update run set chain_seq = 3 where chain_seq = 2;
    commit`);
  const { flaws } = await verify(store);
  expect(flaws).toEqual([
    { is: "lines_changed", seal: 1 },
    { is: "lines_changed", seal: 2 },
  ]);
});

test("lines of one run that changed places in the feed are found before any seal", async () => {
  const { store, edit } = await twoQuestions();
  edit(`begin;
    update event set seq = -1 where seq = 3;
    update event set seq = 3, before = 4 where seq = 4;
    update event set seq = 4 where seq = -1;
    update run set chain_seq = 3 where chain_seq = 4;
    commit`);
  const { flaws } = await verify(store);
  expect(flaws).toEqual([{ is: "line_changed", run: 2, line: 2 }]);
});
