import { readFlags } from "../proof/flags.ts";
import { createDatabase, startPostgres } from "../postgres.ts";
import { tamper, tamperPostgres, tamperSqlite } from "../proof/tamper.ts";

// npm run tamper -- --store sqlite|postgres|both --only kinds
const { databases, only } = readFlags("count", 1);
for (const database of databases) {
  const server = database === "postgres" ? await startPostgres() : undefined;
  const startedMs = performance.now();
  try {
    const tampering = server ? await tamperPostgres(await createDatabase("tamper", server.url)) : await tamperSqlite();
    const { edits, kinds, missed } = await tamper(tampering, only === "kinds" ? "each kind" : "all");
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${database}: ${edits} edits of ${kinds} kinds, ${missed.length} not found, ${seconds} s`);
    for (const name of missed) console.log(`  ${name}`);
    if (missed.length > 0) process.exitCode = 1;
  } finally {
    await server?.stop();
  }
}
