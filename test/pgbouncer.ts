import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { ensureProgram } from "./debian.ts";
import { untilReady } from "./postgres.ts";

const NOBODY = 65534; // PgBouncer refuses to run as root

/** A PgBouncer in front of a PostgreSQL server, with its default settings except for the pool mode. */
export interface Pooler {
  /** The address of a database of that server through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Starts Debian's PgBouncer in transaction mode before the server at this address. */
export async function startPooler(serverUrl: string): Promise<Pooler> {
  ensureProgram("pgbouncer");
  const directory = mkdtempSync(join(tmpdir(), "askd-pgbouncer-"));
  const port = await findPort();
  const { host, port: serverPort } = new pg.Client(serverUrl);
  const settings = `[databases]
* = host=${host} port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = transaction
`;
  const file = join(directory, "pgbouncer.ini");
  writeFileSync(file, settings);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  chmodSync(directory, 0o755);
  if (user.uid !== undefined) for (const path of [directory, file]) chownSync(path, user.uid, user.gid);
  const child = spawn("pgbouncer", [file], { ...user, stdio: "ignore" });
  const through = (url: string) => `postgres://postgres@127.0.0.1:${port}${new URL(url).pathname}`;
  await untilReady(through(serverUrl));
  return {
    through,
    async stop() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A port that is free now. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}
