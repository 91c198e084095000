import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureProgram } from "./debian.ts";
import { findPort } from "./pgbouncer.ts";
import { untilReady } from "./postgres.ts";

const NOBODY = 65534; // PostgreSQL refuses to run as root
const VERSIONS = "/usr/lib/postgresql";

/** Debian's PostgreSQL: its own pg_dump and pg_restore only know servers of their version. */
export interface DebianPostgres {
  /** The address of its database `postgres`. */
  url: string;
  /** Starts a standby that follows it. */
  startStandby(): Promise<DebianPostgres>;
  stop(): Promise<void>;
}

export function startDebianPostgres(): Promise<DebianPostgres> {
  return start((run, data) => run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8"));
}

/** Starts a server on the files that are made in its folder. */
async function start(
  makeFiles: (run: (program: string, ...argv: string[]) => void, data: string) => void,
): Promise<DebianPostgres> {
  if (!existsSync(VERSIONS)) ensureProgram("pg_ctlcluster", "postgresql");
  const version = readdirSync(VERSIONS).toSorted().at(-1) ?? "";
  const programs = join(VERSIONS, version, "bin");
  const folder = mkdtempSync(join(tmpdir(), "askd-debian-pg-"));
  chmodSync(folder, 0o755);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  makeFiles(
    (program, ...argv) =>
      void execFileSync(join(programs, program), argv, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] }),
    data,
  );
  const port = await findPort();
  const settings = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k", folder, "-p", String(port)];
  const child = spawn(join(programs, "postgres"), ["-D", data, ...settings], { ...user, cwd: folder, stdio: "ignore" });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return {
    url,
    startStandby: () =>
      start((run, copy) =>
        run("pg_basebackup", "-D", copy, "-R", "-c", "fast", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres"),
      ),
    async stop() {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
