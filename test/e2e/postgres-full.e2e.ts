import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { BIN, BuiltScene } from "../built.ts";
import { startDebianPostgres } from "../debian-postgres.ts";
import { type PostgresServer, createDatabase as createDatabaseOf, startPostgres } from "../postgres.ts";
import { until } from "../run-dir.ts";

const SLOTS = 10;
const env = { ASKD_NO_SERVICE: "1" };
let server: PostgresServer;

beforeAll(async () => {
  // Three of them are reserved for superusers, as by default.
  server = await startPostgres([`max_connections=${SLOTS}`]);
  const owner = new pg.Client(server.url);
  await owner.connect();
  await owner.query("create role worker login");
  await owner.end();
});
afterAll(() => server.stop());

/** Makes a database that belongs to an ordinary user, for whom nothing is reserved. */
async function createDatabase(name: string, serverUrl: string): Promise<string> {
  const url = await createDatabaseOf(name, serverUrl);
  const owner = new pg.Client(serverUrl);
  await owner.connect();
  await owner.query(`alter database "${name}" owner to worker`);
  await owner.end();
  return url.replace("//postgres@", "//worker@");
}

/**
 * Takes every connection of the server, also those of users of a database, and each that becomes free, until it is told
 * to let go.
 */
async function takeAll(database?: string): Promise<() => Promise<void>> {
  const taken: pg.Client[] = [];
  const take = async () => {
    const client = new pg.Client(server.url);
    client.on("error", () => undefined);
    return client.connect().then(
      () => taken.push(client) > 0,
      () => false, // there is none left
    );
  };
  const takeFree = async () => {
    for (let tries = 0; tries < 2 * SLOTS && (await take());) tries += 1;
  };
  await takeFree();
  const others = "from pg_stat_activity where datname = $1";
  for (let tries = 0; tries < 20 && database !== undefined; tries += 1) {
    await taken[0]?.query(`select pg_terminate_backend(pid) ${others}`, [database]);
    await takeFree();
    const left = await taken[0]?.query(`select ${others}`, [database]);
    if (left?.rowCount === 0) break;
  }
  // Others give back what they do not need, at any moment.
  let isFreed = false;
  const takingOn = (async () => {
    for (; !isFreed; await sleep(20)) await takeFree();
  })();
  const free = async () => {
    isFreed = true;
    await takingOn;
    await Promise.all(taken.splice(0).map((client) => client.end()));
  };
  onTestFinished(free);
  return free;
}

/** A request for which the server reads its store. */
function look(url: string): Promise<Response> {
  return fetch(`${url}/api/v1/questions`, { headers: { authorization: `Bearer askd_h_${"x".repeat(40)}` } });
}

interface Serving {
  child: ChildProcess;
  url(): string;
  said(): string;
}

/** Starts a long-lived command of the built program on that store. */
function start(scene: BuiltScene, store: string, ...argv: string[]): Serving {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd: scene.project,
    env: { PATH: process.env["PATH"], HOME: scene.home, ASKD_HOME: scene.home, ASKD_STORE: store, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  return { child, url: () => out.trim(), said: () => said };
}

/** How long the process takes to end after SIGTERM. */
async function end({ child }: Serving): Promise<{ ms: number }> {
  const from = performance.now();
  child.kill("SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return { ms: performance.now() - from };
}

describe("a PostgreSQL without a free connection", () => {
  test("two servers and a worker leave connections to others, and a command that finds none says so", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("shared", server.url);
    await scene.typeWith({ ...env, ASKD_STORE: store }, "ask", "One?");
    const all = [
      start(scene, store, "serve", "--port", "0"),
      start(scene, store, "serve", "--port", "0"),
      start(scene, store, "worker"),
    ];
    await until("both serve", () => all[0]!.url() !== "" && all[1]!.url() !== "");
    for (const { url } of all.slice(0, 2)) expect((await fetch(`${url()}/health`)).status).toBe(200);
    // While all three start at once they use what they give back soon after.
    await until("a command gets a connection", async () => {
      return (await scene.typeWith({ ...env, ASKD_STORE: store }, "status")).exit === 0;
    });
    const watcher = new pg.Client(server.url);
    await watcher.connect();
    const used = "select count(*)::int as count from pg_stat_activity where datname = 'shared'";
    for (let round = 0; round < 5; round += 1) {
      const replies = all.slice(0, 2).flatMap(({ url }) => Array.from({ length: 10 }, () => look(url())));
      const [counted] = await Promise.all([watcher.query<{ count: number }>(used), ...replies]);
      // Each listens with one and does its work with another: one of those for ordinary users is left.
      expect(counted.rows[0]?.count).toBeLessThanOrEqual(6);
    }
    await watcher.end();
    await takeAll();
    const full = await scene.typeWith({ ...env, ASKD_STORE: store }, "status");
    expect({ exit: full.exit, said: full.stderr }).toMatchObject({
      exit: 3,
      said: expect.stringMatching(/^error: PostgreSQL at .* is full: it has no connection left\.\n/),
    });
    const { exit, stdout } = await scene.typeWith({ ...env, ASKD_STORE: store }, "doctor");
    expect({ exit, said: stdout.toString() }).toEqual({
      exit: 1,
      said: expect.stringContaining("is full: it has no connection left") as string,
    });
    for (const { ms } of await Promise.all(all.map(end))) expect(ms).toBeLessThan(10_000);
  });

  test("a server that loses its connections answers 503, comes back by itself, and ends when it is told", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("lost", server.url);
    const serving = start(scene, store, "serve", "--port", "0");
    await until("it serves", () => serving.url() !== "");
    const ask = () => look(serving.url());
    expect((await ask()).status).toBe(401);
    const free = await takeAll("lost");
    await until("it says so", async () => (await ask()).status === 503);
    expect((await ask()).headers.get("retry-after")).toBe("1");
    await free();
    await until("it is back", async () => (await ask()).status === 401);
    await takeAll("lost");
    const ended = await end(serving);
    expect(ended.ms).toBeLessThan(10_000);
  });

  test("a server that cannot open its store ends with an error", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("never", server.url);
    await takeAll();
    const serving = start(scene, store, "serve", "--port", "0");
    await until("it ended", () => serving.child.exitCode !== null);
    expect({ exit: serving.child.exitCode, said: serving.said() }).toMatchObject({
      exit: 3,
      said: expect.stringContaining("is full"),
    });
  });
});

describe("a slot that becomes free", () => {
  test("within the wait is taken, and the store opens", async () => {
    const store = await createDatabase("freed", server.url);
    await (await openPostgres({ url: store })).close();
    const free = await takeAll();
    const opening = openPostgres({ url: store });
    const first = await Promise.race([opening.then(() => "opened"), sleep(1_000, "waits")]);
    expect(first).toBe("waits");
    await free();
    const opened = await opening;
    expect(await opened.countQuestions("pending")).toBe(0);
    await opened.close();
  });
});

/** Keeps everybody out of the tables, until it is told to let go. */
async function lock(store: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: store, application_name: "reporting" });
  await holder.connect();
  await holder.query("begin; lock table run, question, entry, event, job in access exclusive mode");
  let isHeld = true;
  const free = async () => {
    if (isHeld) await holder.end();
    isHeld = false;
  };
  onTestFinished(free);
  return free;
}

describe("a store that another program has locked", () => {
  test("gives 503 with Retry-After and exit code 3 within a minute, and is used again afterwards", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("locked", server.url);
    const own = { ...env, ASKD_STORE: store };
    await scene.typeWith(own, "ask", "One?");
    const serving = start(scene, store, "serve", "--port", "0");
    await until("it serves", () => serving.url() !== "");
    const ask = () => look(serving.url());
    expect((await ask()).status).toBe(401);
    const free = await lock(store);
    const from = performance.now();
    const [replied, typed] = await Promise.all([ask(), scene.typeWith(own, "list")]);
    expect(performance.now() - from).toBeLessThan(60_000);
    expect({ status: replied.status, after: replied.headers.get("retry-after") }).toEqual({ status: 503, after: "1" });
    expect({ exit: typed.exit, said: typed.stderr }).toMatchObject({
      exit: 3,
      said: expect.stringMatching(/^error: /),
    });
    await free();
    await until("it is back", async () => (await ask()).status === 401);
    expect((await scene.typeWith(own, "list")).exit).toBe(0);
  });

  test("for a moment only, as by a slow statement, is waited for", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("slow", server.url);
    const own = { ...env, ASKD_STORE: store };
    await scene.typeWith(own, "ask", "One?");
    const free = await lock(store);
    const waiting =
      "select from pg_locks where not granted and database = (select oid from pg_database where datname = 'slow')";
    const watcher = new pg.Client(store);
    await watcher.connect();
    const typed = scene.typeWith(own, "list", "--jq", "length");
    await until("it waits", async () => ((await watcher.query(waiting)).rowCount ?? 0) > 0);
    await free();
    await watcher.end();
    expect({ ...(await typed), stdout: (await typed).stdout.toString() }).toMatchObject({ exit: 0, stdout: "1\n" });
  });
});

/** Stops the server and every process of it that this database has, until it is told to let go. */
async function stopAnswering(database: string): Promise<() => void> {
  const watcher = new pg.Client(server.url);
  await watcher.connect();
  const { rows } = await watcher.query<{ pid: number }>("select pid from pg_stat_activity where datname = $1", [
    database,
  ]);
  const { rows: files } = await watcher.query<{ text: string }>("select pg_read_file('postmaster.pid') as text");
  await watcher.end();
  const pids = [Number(files[0]?.text.split("\n")[0]), ...rows.map(({ pid }) => pid)];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  let isStopped = true;
  const free = () => {
    if (isStopped) for (const pid of pids) process.kill(pid, "SIGCONT");
    isStopped = false;
  };
  onTestFinished(free);
  return free;
}

describe("a server and a worker end within 10 s of SIGTERM", () => {
  /** Both with a request, or a job, that waits for the store. */
  async function startBoth(name: string) {
    const scene = new BuiltScene();
    const store = await createDatabase(name, server.url);
    await scene.typeWith({ ...env, ASKD_STORE: store }, "ask", "One?", "--timeout", "10m");
    const both = [start(scene, store, "serve", "--port", "0"), start(scene, store, "worker")];
    await until("it serves", () => both[0]!.url() !== "");
    expect((await look(both[0]!.url())).status).toBe(401);
    return { store, both };
  }

  /** The longest that one of them takes to end while requests wait. */
  async function endBoth(both: readonly Serving[]): Promise<number> {
    const replies = Array.from({ length: 3 }, () => look(both[0]!.url()).catch(() => undefined));
    await sleep(500); // the requests are on their way to the store
    const ended = await Promise.all(both.map(end));
    await Promise.all(replies);
    return Math.max(...ended.map(({ ms }) => ms));
  }

  test("while a program has the tables locked", async () => {
    const { store, both } = await startBoth("locked_end");
    const free = await lock(store);
    expect(await endBoth(both)).toBeLessThan(10_000);
    await free();
  });

  test("while PostgreSQL does not answer", async () => {
    const { both } = await startBoth("silent_end");
    const free = await stopAnswering("silent_end");
    expect(await endBoth(both)).toBeLessThan(10_000);
    free();
  });
});

describe("--read-only", () => {
  test("writes nothing to PostgreSQL, also of what is due, and refuses changes", async () => {
    const scene = new BuiltScene();
    const store = await createDatabase("looked", server.url);
    const own = { ...env, ASKD_STORE: store };
    await scene.typeWith(own, "ask", "One?", "--timeout", "1s");
    await sleep(1_000); // the deadline has passed
    const watcher = new pg.Client(store);
    await watcher.connect();
    onTestFinished(() => watcher.end());
    // Every transaction that writes takes a number.
    const sql = "select pg_snapshot_xmax(pg_current_snapshot())::text as next";
    const next = async () => (await watcher.query<{ next: string }>(sql)).rows;
    const before = await next();
    for (const argv of [["status"], ["list"], ["show", "1"], ["tree"], ["stats"], ["audit"], ["export"]]) {
      const { exit, stderr } = await scene.typeWith(own, "--read-only", ...argv);
      expect({ argv, exit, stderr: argv[0] === "export" ? "" : stderr }).toEqual({ argv, exit: 0, stderr: "" });
    }
    const refused = await scene.typeWith(own, "--read-only", "answer", "1", "yes");
    expect({ exit: refused.exit, said: refused.stderr }).toMatchObject({
      exit: 1,
      said: expect.stringContaining("The store was opened to be read only; nothing was changed."),
    });
    expect(await next()).toEqual(before);
    expect((await scene.typeWith(own, "--read-only", "list", "--jq", "length")).stdout.toString()).toBe("1\n");
  });
});

describe("a standby", () => {
  test("is looked at with --read-only, and everything else says that it takes no writes", async () => {
    const primary = await startDebianPostgres();
    onTestFinished(() => primary.stop());
    const scene = new BuiltScene();
    const on = (store: string) => ({ ...env, ASKD_STORE: store });
    await scene.typeWith(on(primary.url), "ask", "One?", "--timeout", "1s");
    const standby = await primary.startStandby();
    onTestFinished(() => standby.stop());
    await sleep(1_000); // the deadline has passed
    for (const argv of [["status"], ["list"], ["show", "1"], ["audit"], ["export"]]) {
      const { exit, stderr } = await scene.typeWith(on(standby.url), "--read-only", ...argv);
      expect({ argv, exit, stderr: argv[0] === "export" ? "" : stderr }).toEqual({ argv, exit: 0, stderr: "" });
    }
    const verified = await scene.typeWith(on(standby.url), "--read-only", "audit", "--verify");
    expect(verified.exit).toBe(1);
    expect(verified.stdout.toString()).toMatch(/the rows are what the trail says, and the schema .* was not compared/);
    expect(verified.stdout.toString()).toContain("Verify on the primary");
    for (const argv of [["ask", "Two?"], ["answer", "1", "yes"], ["status"]]) {
      const { exit, stderr } = await scene.typeWith(on(standby.url), ...argv);
      expect({ argv, exit, stderr }).toEqual({
        argv,
        exit: 1,
        stderr: expect.stringMatching(/takes no writes: it is a standby[\s\S]*Name the primary/),
      });
    }
    const { stdout } = await scene.typeWith(on(standby.url), "doctor");
    expect(stdout.toString()).toMatch(/takes no writes: it is a standby/);
    await scene.typeWith(on(primary.url), "answer", "1", "yes", "--force");
    const isAnswered = async () =>
      (await scene.typeWith(on(standby.url), "--read-only", "show", "1")).stdout.toString().includes("yes");
    await until("the standby has the answer", isAnswered);
  });
});
