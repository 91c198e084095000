import { expect, test } from "vitest";
import { createDatabase } from "./postgres.ts";
import { tamper, tamperPostgres, tamperSqlite } from "./proof/tamper.ts";

test("edits of all tables behind the back of a SQLite store are found", async () => {
  const { kinds, missed } = await tamper(await tamperSqlite(), "some kinds and schema");
  expect(missed).toEqual([]);
  expect(kinds).toBeGreaterThan(150);
}, 240_000);

test("edits of all tables behind the back of a PostgreSQL store are found", async () => {
  const url = await createDatabase(`tamper_${process.pid}`);
  const { kinds, missed } = await tamper(await tamperPostgres(url), "some kinds and schema");
  expect(missed).toEqual([]);
  expect(kinds).toBeGreaterThan(150);
}, 240_000);
