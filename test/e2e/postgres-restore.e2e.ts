import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BuiltScene } from "../built.ts";
import { startDebianPostgres } from "../debian-postgres.ts";
import { startPooler } from "../pgbouncer.ts";

const folder = mkdtempSync(join(tmpdir(), "askd-dump-"));
let url = "";
let stop = async () => {};

beforeAll(async () => {
  const server = await startDebianPostgres();
  stop = () => server.stop();
  url = server.url.replace(/\/postgres$/, "");
  await query("postgres", "create database askd");
}, 120_000);
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

async function query(database: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(`${url}/${database}`);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function dump(database: string, file: string): string {
  const to = join(folder, file);
  execFileSync("pg_dump", ["--format=custom", `--file=${to}`, `${url}/${database}`]);
  return to;
}

describe("restore into PostgreSQL", () => {
  test("puts the dump in the place of the database, keeps the other one, and verifies", async () => {
    const scene = new BuiltScene();
    const env = { ASKD_NO_SERVICE: "1", ASKD_STORE: `${url}/askd` };
    const type = async (...argv: string[]) => {
      const { exit, stdout, stderr } = await scene.typeWith(env, ...argv);
      return { exit, said: `${stdout.toString()}${stderr}` };
    };
    await type("ask", "One?", "-o", "yes");
    const kept = dump("askd", "askd.dump");
    await type("answer", "1", "yes");
    await type("ask", "Two?");

    const junk = join(folder, "junk.dump");
    writeFileSync(junk, "junk");
    expect(await type("restore", junk)).toMatchObject({
      exit: 2,
      said: expect.stringContaining("nothing was changed"),
    });
    await query("postgres", "create database other");
    await query("other", "create table meta (key text)");
    const other = dump("other", "other.dump");
    expect(await type("restore", other)).toMatchObject({
      exit: 2,
      said: expect.stringContaining("is not the dump of an askd store; nothing was changed"),
    });
    const client = new pg.Client(`${url}/askd`);
    await client.connect();
    expect(await type("restore", kept)).toMatchObject({
      said: expect.stringContaining("the store; nothing was changed"),
    });
    await client.end();
    expect((await type("list", "--state", "answered", "--jq", "length")).said).toBe("1\n");

    expect(await type("restore", kept)).toMatchObject({
      exit: 0,
      said: expect.stringContaining("The trail is verified."),
    });
    expect((await type("list", "--jq", '[.[].title] | join(" ")')).said).toBe("One?\n");
    expect((await type("audit", "--verify")).exit).toBe(0);
    expect((await type("answer", "1", "yes")).exit).toBe(0);
    const names = await query(
      "postgres",
      "select datname from pg_database where datname like 'askd%' order by datname",
    );
    expect(names).toEqual([{ datname: "askd" }, { datname: expect.stringMatching(/^askd_before_/) }]);
  });

  test("takes back what askd backup wrote, with the launch records, and refuses while a later agent lives", async () => {
    await query("postgres", "create database runs");
    const scene = new BuiltScene();
    scene.program("agent.sh", "#!/bin/sh\nexit 0\n");
    const env = { ASKD_NO_SERVICE: "1", ASKD_STORE: `${url}/runs` };
    const type = async (...argv: string[]) => {
      const { exit, stdout, stderr } = await scene.typeWith(env, ...argv);
      return { exit, said: `${stdout.toString()}${stderr}` };
    };
    const file = join(scene.home, "copies", "runs.dump");
    expect(await type("backup", file)).toMatchObject({
      exit: 5,
      said: expect.stringContaining("There is no store in"),
    });
    expect(await type("run", "--name", "tidy", "--", "./agent.sh")).toMatchObject({ exit: 0 });
    const bare = await scene.typeWith({ ...env, PATH: scene.project }, "backup", file);
    expect(bare.stderr).toContain("There is no pg_dump on the path; nothing was changed");
    expect(await type("backup", file)).toMatchObject({
      exit: 0,
      said: expect.stringMatching(/^✓ Backed up to .*; verified/),
    });
    expect([file, `${file}.runs`].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(await type("backup", file)).toMatchObject({ exit: 2, said: expect.stringContaining("already exists") });

    const runs = join(scene.home, "state", "runs");
    const [id] = readdirSync(runs);
    const runDir = join(runs, id!);
    rmSync(join(runDir, "env.json"));
    const agent = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    onTestFinished(() => void agent.kill("SIGKILL"));
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    writeFileSync(join(runDir, "1.pid"), `${boot}\n${readFileSync(`/proc/${agent.pid}/stat`, "utf8").trim()}\n`);
    expect(await type("restore", file)).toMatchObject({
      exit: 1,
      said: expect.stringContaining(`The agent of tidy is still running (process ${agent.pid}); nothing was changed`),
    });
    expect(existsSync(join(runDir, "env.json"))).toBe(false);
    agent.kill("SIGKILL");
    await once(agent, "exit");
    const restored = await type("restore", file);
    expect(restored).toMatchObject({ exit: 0, said: expect.stringContaining("The trail is verified.") });
    expect(restored.said).not.toContain("cannot continue");
    expect(existsSync(join(runDir, "env.json"))).toBe(true);

    // A dump of pg_dump alone has none: the restore says what that means.
    const dumped = dump("runs", "bare.dump");
    rmSync(join(runDir, "env.json"));
    expect(await type("restore", dumped)).toMatchObject({
      exit: 0,
      said: expect.stringContaining("#1 tidy cannot continue: its launch record is no longer on this machine"),
    });
  });

  test("behind PgBouncer, backup and restore use the server's own address", async () => {
    await query("postgres", "create database pooled");
    const pooler = await startPooler(`${url}/postgres`);
    onTestFinished(() => pooler.stop());
    const direct = `${url}/pooled`;
    const scene = new BuiltScene();
    const through = pooler.through(direct);
    const type = async (store: string, ...argv: string[]) => {
      const { exit, stdout, stderr } = await scene.typeWith({ ASKD_NO_SERVICE: "1", ASKD_STORE: store }, ...argv);
      return { exit, said: `${stdout.toString()}${stderr}` };
    };
    const store = `${through}?listen=${encodeURIComponent(direct)}`;
    expect((await type(store, "ask", "One?")).exit).toBe(0);
    const file = join(scene.home, "pooled.dump");
    const refused = { exit: 2, said: expect.stringContaining("is behind a pooler; nothing was changed") as string };
    expect(await type(through, "backup", file)).toMatchObject(refused);
    expect(await type(store, "backup", file)).toMatchObject({ exit: 0 });
    expect((await type(store, "ask", "Two?")).exit).toBe(0);
    expect(await type(through, "restore", file)).toMatchObject(refused);
    expect(await type(store, "restore", file)).toMatchObject({
      said: expect.stringContaining('reconnect "pooled"') as string,
    });
    const admin = new pg.Client(through.replace(/[^/]*$/, "pgbouncer"));
    await admin.connect();
    await admin.query('reconnect "pooled"');
    await admin.end();
    await expect
      .poll(() => type(store, "restore", file), { timeout: 30_000 })
      .toMatchObject({ exit: 0, said: expect.stringContaining("The trail is verified.") as string });
    expect((await type(store, "list", "--jq", '[.[].title] | join(" ")')).said).toBe("One?\n");
  });

  test("doctor --fix dumps the database before it changes it, or says that it cannot", async () => {
    await query("postgres", "create database mended");
    const scene = new BuiltScene();
    const env = { ASKD_NO_SERVICE: "1", ASKD_STORE: `${url}/mended` };
    await scene.typeWith(env, "ask", "One?");
    const dumps = () => {
      const folder = join(scene.home, "state", "backups");
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    };
    await query("mended", "drop index run_status");
    const bare = await scene.typeWith({ ...env, PATH: scene.project }, "doctor", "--fix");
    expect(bare.stderr).toContain("The database is repaired without a copy of it: There is no pg_dump on the path");
    expect(dumps()).toEqual([]);
    await query("mended", "drop index run_status");
    const { stderr } = await scene.typeWith(env, "doctor", "--fix");
    const [dumped] = dumps();
    expect(stderr).toContain(`The database was copied to ${dumped} before it was repaired`);
    expect(statSync(dumped!).mode & 0o777).toBe(0o600);
    const list = execFileSync("pg_restore", ["--list", dumped!]).toString();
    expect(list).toContain("TABLE DATA public run");
    expect(list).not.toContain("run_status"); // as it was before
  });
});
