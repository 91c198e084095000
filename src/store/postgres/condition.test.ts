import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownCertificate } from "../../../test/certificate.ts";
import { findPort } from "../../../test/pgbouncer.ts";
import { type PostgresServer, createDatabase, startPostgres } from "../../../test/postgres.ts";
import { keepRun } from "../../../test/store-suite/opened.ts";
import { inspectPostgres } from "./inspection.ts";
import { openPostgres } from "./postgres.ts";
import { restorePostgres } from "./restore.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Runs statements as the owner of the server. */
async function asOwner(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

function as(url: string, user: string): string {
  return url.replace("//postgres@", `//${user}@`);
}

test("ordinary conditions of a server are said in plain words with the way out", async () => {
  const url = await createDatabase("plain", server.url);
  await asOwner(
    url,
    "create role visitor login",
    "create role lost login",
    "alter role lost set search_path = nowhere",
    "create database old encoding 'LATIN1' locale 'C' template template0",
    "create database bytes encoding 'SQL_ASCII' locale 'C' template template0",
    "create database fixed",
    "alter database fixed set default_transaction_read_only = on",
  );
  const other = (name: string) => server.url.replace("/postgres?", `/${name}?`);
  const said: Array<[address: string, code: string, message: string, hint: string]> = [
    [as(url, "visitor"), "store_unusable", "does not permit this user to create the tables", "grant create on schema"],
    [as(url, "lost"), "store_unusable", "search_path names none that exists", "alter role"],
    [other("old"), "store_unusable", 'The database "old" is in LATIN1', "--encoding=UTF8"],
    [other("bytes"), "store_unusable", 'The database "bytes" is in SQL_ASCII', "--encoding=UTF8"],
    [other("fixed"), "store_unusable", "takes no writes: it is a standby, or set to read-only", "Name the primary"],
    [`${url}&sslmode=verify-full&sslrootcert=/nowhere/ca.pem`, "bad_input", "names /nowhere/ca.pem", "sslrootcert="],
  ];
  for (const [address, code, message, hint] of said) {
    const refusal = {
      name: "Refusal",
      code,
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    };
    await expect(openPostgres({ url: address })).rejects.toMatchObject(refusal);
    // Looking finds the same, except that a standby is looked at.
    if (address === other("fixed")) expect(await inspectPostgres(address)).toMatchObject({ isReadOnly: true });
    else await expect(inspectPostgres(address)).rejects.toMatchObject(refusal);
  }
});

test.each([
  ["53100", "has a full disk; nothing was written.", "Free some space"],
  ["53200", "has not enough memory for it; nothing was written.", "Give it more"],
])(
  "a server that gives %s for a write is said to have no room, and is used again afterwards",
  async (code, said, hint) => {
    const url = await createDatabase(`no_room_${code}`, server.url);
    const store = await openPostgres({ url });
    try {
      await asOwner(
        url,
        `create function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '${code}'; end $$`,
        "create trigger no_room before insert on run for each row execute function no_room()",
      );
      await expect(keepRun(store)).rejects.toMatchObject({
        name: "Refusal",
        code: "store_unusable",
        exitCode: 1,
        message: expect.stringContaining(said),
        hint: expect.stringContaining(hint),
      });
      expect(await store.listRuns({ order: "oldest", limit: 1 })).toEqual([]);
      await asOwner(url, "drop trigger no_room on run");
      await keepRun(store);
      expect(await store.listRuns({ order: "oldest", limit: 1 })).toHaveLength(1);
    } finally {
      await store.close();
    }
  },
);

test("a process whose connections are all in use for too long says that the server is slow", async () => {
  const store = await openPostgres({ url: await createDatabase("busy", server.url), poolSize: 1 });
  let free = () => {};
  try {
    const held = new Promise<void>((resolve) => (free = resolve));
    const reading = store.readSnapshot(() => held);
    await expect(store.countQuestions("pending")).rejects.toMatchObject({
      code: "store_unreachable",
      exitCode: 3,
      message: expect.stringContaining("is too slow: no connection became free."),
      hint: expect.stringContaining("pg_stat_activity"),
    });
    free();
    await reading;
    expect(await store.countQuestions("pending")).toBe(0);
  } finally {
    free();
    await store.close();
  }
});

test("a database with another program's meta table is refused, and left as it is", async () => {
  const url = await createDatabase("foreign_meta", server.url);
  await asOwner(url, "create table meta (name text)");
  await expect(openPostgres({ url })).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringContaining("has a table named meta of another program"),
    hint: expect.stringContaining("createdb"),
  });
});

describe("a lock of another program", () => {
  let url = "";
  beforeAll(async () => {
    url = await createDatabase("locked", server.url);
    await (await openPostgres({ url })).close();
  });

  async function whileLocked(sql: string, look: () => Promise<void>) {
    const holder = new pg.Client({ connectionString: url, application_name: "reporting" });
    await holder.connect();
    try {
      await holder.query(`begin; ${sql}`);
      await look();
    } finally {
      await holder.end();
    }
  }

  test.each(["run", "archive", "question_word"])(
    "on the table %s is named with the program, before anything waits for it",
    (table) =>
      whileLocked(`lock table ${table} in access exclusive mode`, () =>
        expect(inspectPostgres(url)).rejects.toMatchObject({
          code: "store_unreachable",
          message: expect.stringMatching(
            new RegExp(`reporting \\(process \\d+\\) has had the table ${table} locked for`),
          ),
          hint: expect.stringMatching(/pg_terminate_backend\(\d+\)/),
        }),
      ),
  );

  test("that keeps others only from writing is named, and everything else is looked at", () =>
    whileLocked("lock table event in share row exclusive mode", async () => {
      const look = await inspectPostgres(url);
      expect(look.lockedBy).toMatchObject({ program: "reporting", table: "event" });
      expect(await look.store?.countQuestions("pending")).toBe(0);
      await look.close();
    }));

  test("on rows is named while somebody waits for them", () =>
    whileLocked("select from run for update", async () => {
      const waiting = new pg.Client({ connectionString: url, application_name: "waiting" });
      await waiting.connect();
      const ended = waiting.query("update run set version = version").catch((error: unknown) => error);
      try {
        await expect
          .poll(
            async () => {
              const look = await inspectPostgres(url);
              await look.close();
              return look.lockedBy;
            },
            { timeout: 15_000 },
          )
          .toMatchObject({ program: "reporting", table: undefined });
      } finally {
        await waiting.end();
        await ended;
      }
    }));
});

test("a user who may not create databases is told so when a dump is restored", async () => {
  const url = await createDatabase("restored", server.url);
  await asOwner(url, "create role restorer login");
  await expect(restorePostgres({ address: as(url, "restorer"), dump: "package.json" })).rejects.toMatchObject({
    code: "not_permitted",
    message: expect.stringContaining('User "restorer" may not create databases; nothing was changed'),
    hint: expect.stringContaining("createdb"),
  });
});

test("a restore takes away what one that was killed left, and nothing else", async () => {
  const url = await createDatabase("again", server.url);
  const left = "again_restore_20260101t000000_7";
  await asOwner(server.url, `create database ${left}`, "create database again_restore_mine");
  await expect(restorePostgres({ address: url, dump: "package.json" })).rejects.toThrow("nothing was changed");
  const client = new pg.Client(server.url);
  await client.connect();
  const { rows } = await client.query("select datname from pg_database where datname like 'again%' order by 1");
  await client.end();
  expect(rows).toEqual([{ datname: "again" }, { datname: "again_restore_mine" }]);
});

describe("a server with a certificate of its own", () => {
  let secure: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), "askd-pg-tls-"));
  const port = findPort();
  const address = async (more: string) => `postgres://postgres@127.0.0.1:${await port}/postgres?${more}`;

  beforeAll(async () => {
    const { key, cert } = ownCertificate();
    for (const [name, text] of [
      ["key.pem", key],
      ["cert.pem", cert],
    ] as const) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      if (process.getuid?.() === 0) chownSync(join(folder, name), 65534, 65534);
    }
    chmodSync(folder, 0o755);
    secure = await startPostgres(
      [
        "listen_addresses=127.0.0.1",
        `port=${await port}`,
        "ssl=on",
        `ssl_cert_file=${join(folder, "cert.pem")}`,
        `ssl_key_file=${join(folder, "key.pem")}`,
      ],
      { port: await port },
    );
  });
  afterAll(async () => {
    await secure.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(["sslmode=require", "sslmode=verify-full"])(
    "is refused with %s, with the way to name its CA",
    async (mode) => {
      await expect(openPostgres({ url: await address(mode) })).rejects.toMatchObject({
        name: "Refusal",
        code: "store_unreachable",
        message: expect.stringContaining("is not from a CA that this machine trusts"),
        hint: expect.stringContaining("sslrootcert="),
      });
    },
  );

  test("is used if its CA is named, and without a check if that is asked for", async () => {
    const ca = `sslmode=verify-full&sslrootcert=${encodeURIComponent(join(folder, "cert.pem"))}`;
    for (const mode of [ca, "sslmode=no-verify"]) {
      const store = await openPostgres({ url: await address(mode) });
      expect(await store.countQuestions("pending")).toBe(0);
      await store.close();
    }
  });
});

test("a server without TLS is said to have none", async () => {
  const { host } = new pg.Client(server.url);
  const url = `${server.url}&sslmode=verify-full`;
  expect(host).toContain("/");
  await expect(openPostgres({ url })).rejects.toMatchObject({
    code: "store_unreachable",
    message: expect.stringContaining("offers no TLS"),
  });
});
