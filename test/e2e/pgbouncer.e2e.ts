import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { BIN, BuiltScene } from "../built.ts";
import { type Pooler, startPooler } from "../pgbouncer.ts";
import { type PostgresServer, createDatabase, startPostgres } from "../postgres.ts";
import { until } from "../run-dir.ts";
import { storeSuite } from "../store-suite/store.suite.ts";

let server: PostgresServer;
let pooler: Pooler;
let databases = 0;
let url: string;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
  pooler = await startPooler(server.url);
});
afterAll(async () => {
  await pooler.stop();
  await server.stop();
});

async function open(): Promise<Store> {
  const store = await openPostgres({ url });
  stores.push(store);
  return store;
}

storeSuite("PostgreSQL behind PgBouncer in transaction mode", async () => {
  const direct = await createDatabase(`pooled_${(databases += 1)}`, server.url);
  url = `${pooler.through(direct)}?listen=${encodeURIComponent(direct)}`;
  return {
    store: await open(),
    another: open,
    pass: (ms) => sleep(ms),
    close: async () => void (await Promise.all(stores.splice(0).map((store) => store.close()))),
  };
});

describe("the built program behind PgBouncer in transaction mode", () => {
  const env = { ASKD_NO_SERVICE: "1" };

  test("serves, runs agents, and doctor says whether live updates have an address", async () => {
    const direct = await createDatabase("pooled_program", server.url);
    const through = pooler.through(direct);
    const store = `${through}?listen=${encodeURIComponent(direct)}`;
    const scene = new BuiltScene();
    const own = { ...env, ASKD_STORE: store };
    const start = (...argv: string[]) => {
      const child = spawn(process.execPath, [BIN, ...argv], {
        cwd: scene.project,
        env: { PATH: process.env["PATH"], HOME: scene.home, ASKD_HOME: scene.home, ...own },
        stdio: ["ignore", "pipe", "ignore"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    };
    scene.program("agent.sh", `#!/bin/sh\n${process.execPath} ${BIN} ask 'Go on?' -o yes --wait > said\n`);
    let url = "";
    start("serve", "--port", "0")
      .stdout.setEncoding("utf8")
      .on("data", (text: string) => (url += text));
    start("worker");
    await until("it serves", () => url.trim() !== "");
    expect((await fetch(`${url.trim()}/health`)).status).toBe(200);
    expect(await scene.typeWith(own, "run", "--name", "pooled", "--", "./agent.sh")).toMatchObject({ exit: 0 });
    const type = async (...argv: string[]) => (await scene.typeWith(own, ...argv)).stdout.toString();
    await until("it asks", async () => (await type("list", "--jq", "length")) === "1\n");
    expect((await scene.typeWith(own, "answer", "1", "yes")).exit).toBe(0);
    await until("it ended", async () => (await type("runs", "list", "--jq", ".[0].status")).includes("completed"));
    expect(readFileSync(join(scene.project, "said"), "utf8")).toContain("yes");
    expect((await scene.typeWith(own, "audit", "--verify")).exit).toBe(0);

    const codes = async (address: string) => {
      const { stdout } = await scene.typeWith({ ...own, ASKD_STORE: address }, "doctor", "--json");
      return stdout.toString();
    };
    expect(await codes(store)).toContain('"pooler"');
    expect(await codes(through)).toContain('"pooler_no_listen"');
    expect(await codes(direct)).not.toContain('"pooler');
  }, 240_000);
});
