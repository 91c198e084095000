import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { NOON, aQuestion } from "../../../test/builders.ts";
import { type Pooler, startPooler } from "../../../test/pgbouncer.ts";
import { type PostgresServer, createDatabase, startPostgres } from "../../../test/postgres.ts";
import { keep, keepRun } from "../../../test/store-suite/opened.ts";
import { dumpPostgres } from "./dump.ts";
import { inspectPostgres } from "./inspection.ts";
import { openPostgres } from "./postgres.ts";
import { restorePostgres } from "./restore.ts";

let server: PostgresServer;
let pooler: Pooler;
beforeAll(async () => {
  server = await startPostgres();
  pooler = await startPooler(server.url);
});
afterAll(async () => {
  await pooler.stop();
  await server.stop();
});

describe("behind PgBouncer in transaction mode", () => {
  test("stores work, and see each other's changes with and without an address for LISTEN", async () => {
    const direct = await createDatabase("pooled", server.url);
    const url = pooler.through(direct);
    const listening = `${url}?listen=${encodeURIComponent(direct)}`;
    const stores = [await openPostgres({ url }), await openPostgres({ url: listening })] as const;
    const told = stores.map(() => 0);
    stores.forEach((store, index) => store.onChange(({ questions }) => void (told[index]! += 1 + questions.size)));
    const run = await keepRun(stores[0]);
    const question = aQuestion({ runId: run.id });
    await keep(stores[0], { questions: [question] });
    for (const store of stores) expect(await store.findQuestion(question.id)).toMatchObject({ id: question.id });
    await expect.poll(() => told[1], { timeout: 10_000 }).toBeGreaterThan(0);
    const before = told[0] ?? 0;
    await keepRun(stores[1]);
    await keep(stores[1], { questions: [aQuestion({ runId: (await keepRun(stores[1])).id })] });
    await expect.poll(() => told[0], { timeout: 10_000 }).toBeGreaterThan(before);
    const claimed = await stores[0].claimJobs({
      kinds: ["seal"],
      host: "h",
      agents: [],
      leaseMs: 1000,
      worker: "w_00000000000000000000000000" as never,
      limit: 5,
    });
    expect(claimed.jobs).toEqual([]);
    expect(await stores[0].findSchemaDifferences()).toEqual([]);
    for (const store of stores) await store.close();
    for (const [address, canListen] of [
      [url, false],
      [listening, true],
    ] as const) {
      const look = await inspectPostgres(address);
      expect(look.pooler).toEqual({ canListen });
      await look.close();
    }
    const look = await inspectPostgres(direct);
    expect(look.pooler).toBeUndefined();
    await look.close();
  });

  test("a dump and a restore need the server's own address, and say so before they change anything", async () => {
    const url = pooler.through(await createDatabase("dumped", server.url));
    await (await openPostgres({ url })).close();
    const refused = { code: "bad_input", hint: expect.stringContaining("?listen=") as string };
    const target = join(mkdtempSync(join(tmpdir(), "askd-pooled-")), "askd.dump");
    onTestFinished(() => rmSync(dirname(target), { recursive: true }));
    await expect(dumpPostgres({ address: url, target, at: NOON })).rejects.toMatchObject(refused);
    await expect(restorePostgres({ address: url, dump: "package.json" })).rejects.toMatchObject(refused);
  });

  test("a restore names the connections that the pooler keeps, and how to end them", async () => {
    const direct = await createDatabase("kept", server.url);
    const address = `${pooler.through(direct)}?listen=${encodeURIComponent(direct)}`;
    await (await openPostgres({ url: address })).close();
    const restore = () => restorePostgres({ address, dump: "package.json" });
    await expect(restore()).rejects.toMatchObject({
      code: "store_unusable",
      hint: expect.stringContaining('type in its console: reconnect "kept"') as string,
    });
    const console = new pg.Client(pooler.through(direct).replace(/[^/]*$/, "pgbouncer"));
    await console.connect();
    await console.query('reconnect "kept"');
    await console.end();
    // Now it gets as far as the dump, which is none.
    await expect
      .poll(() => restore().catch(String), { timeout: 20_000 })
      .toContain("package.json could not be restored");
  });
});
