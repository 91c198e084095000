import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "./postgres.ts";

/** What all tests share: the program on the path, as after an installation, and one PostgreSQL. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "askd-path-"));
  symlinkSync(fileURLToPath(new URL("../bin/askd", import.meta.url)), join(dir, "askd"));
  process.env["PATH"] = [dir, process.env["PATH"]].join(delimiter); // the test processes inherit it
  const stop = await startDatabase();
  return async () => {
    rmSync(dir, { recursive: true, force: true });
    await stop();
  };
}

/** The server that ASKD_TEST_POSTGRES names, or one of our own. */
async function startDatabase(): Promise<() => Promise<void>> {
  if (process.env["ASKD_TEST_POSTGRES"]) return () => Promise.resolve();
  const server = await startPostgres();
  process.env["ASKD_TEST_POSTGRES"] = server.url;
  return () => server.stop();
}
