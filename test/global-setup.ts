import { startPostgres } from "./postgres.ts";

/** One PostgreSQL for all tests: the one that ASKD_TEST_POSTGRES names, or one of our own. */
export default async function setup(): Promise<(() => Promise<void>) | void> {
  if (process.env["ASKD_TEST_POSTGRES"]) return;
  const server = await startPostgres();
  process.env["ASKD_TEST_POSTGRES"] = server.url; // the test processes inherit it
  return () => server.stop();
}
