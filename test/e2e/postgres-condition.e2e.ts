import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltScene } from "../built.ts";
import { ownCertificate } from "../certificate.ts";
import { findPort } from "../pgbouncer.ts";
import { type PostgresServer, createDatabase, startPostgres } from "../postgres.ts";

const NOBODY = 65534; // PostgreSQL runs as this user
const folder = mkdtempSync(join(tmpdir(), "askd-condition-"));
let server: PostgresServer;
let port = 0;

beforeAll(async () => {
  const { key, cert } = ownCertificate();
  for (const [name, text] of Object.entries({ "key.pem": key, "cert.pem": cert })) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(join(folder, name), NOBODY, NOBODY);
  }
  chmodSync(folder, 0o755);
  port = await findPort();
  const files = [`ssl_cert_file=${join(folder, "cert.pem")}`, `ssl_key_file=${join(folder, "key.pem")}`];
  server = await startPostgres(["listen_addresses=127.0.0.1", `port=${port}`, "ssl=on", ...files], { port });
  await run(
    server.url,
    "create role lost login",
    "alter role lost set search_path = nowhere",
    "create database old encoding 'LATIN1' locale 'C' template template0",
    "create database bytes encoding 'SQL_ASCII' locale 'C' template template0",
  );
  await createDatabase("plain", server.url);
  await run(await createDatabase("foreign", server.url), "create table meta (name text)");
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const sql of statements) await client.query(sql);
  await client.end();
}

/** By its socket, or over TLS. */
const local = (database: string, user = "postgres") =>
  server.url.replace("//postgres@", `//${user}@`).replace("/postgres?", `/${database}?`);
const secure = (more: string) => `postgres://postgres@127.0.0.1:${port}/plain?${more}`;

interface Condition {
  what: string;
  address: () => string;
  exit: number;
  said: string;
}

const CONDITIONS: Condition[] = [
  { what: "LATIN1", address: () => local("old"), exit: 1, said: 'The database "old" is in LATIN1' },
  { what: "SQL_ASCII", address: () => local("bytes"), exit: 1, said: 'The database "bytes" is in SQL_ASCII' },
  { what: "no search path", address: () => local("plain", "lost"), exit: 1, said: "search_path names none" },
  {
    what: "a foreign meta table",
    address: () => local("foreign"),
    exit: 1,
    said: "table named meta of another program",
  },
  { what: "an unknown CA", address: () => secure("sslmode=verify-full"), exit: 3, said: "is not from a CA that this" },
  {
    what: "a missing CA",
    address: () => secure("sslrootcert=/nowhere/ca.pem"),
    exit: 2,
    said: "names /nowhere/ca.pem",
  },
];

test.each(CONDITIONS)("with $what a command exits with $exit and says why, and so does doctor", async (condition) => {
  const { address, exit, said } = condition;
  const scene = new BuiltScene();
  const env = { ASKD_NO_SERVICE: "1", ASKD_STORE: address() };
  const typed = await scene.typeWith(env, "status");
  expect({ exit: typed.exit, said: typed.stderr }).toEqual({ exit, said: expect.stringContaining(said) as string });
  const looked = await scene.typeWith(env, "doctor", "--json");
  const { findings } = JSON.parse(looked.stdout.toString()) as {
    findings: Array<{ area: string; text: string; fix: string }>;
  };
  const found = findings.filter(({ area, text }) => area === "store" && text.includes(said));
  expect(found).toMatchObject([{ level: "problem", fix: expect.any(String) as string }]);
  expect(looked.exit).toBe(1);
});
