import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase } from "../../test/postgres.ts";
import { openPostgres } from "./postgres.ts";
import { storeSuite } from "./store.suite.ts";

let count = 0;

storeSuite("PostgreSQL", async () => {
  const url = await createDatabase(`suite_${process.pid}_${(count += 1)}`);
  const stores = [await openPostgres({ url })];
  return {
    store: stores[0]!,
    another: async () => {
      const other = await openPostgres({ url });
      stores.push(other);
      return other;
    },
    pass: (ms) => sleep(ms),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
});
