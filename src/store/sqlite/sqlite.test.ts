import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "../store.ts";
import { storeSuite } from "../../../test/store-suite/store.suite.ts";

storeSuite("SQLite", async () => {
  const directory = mkdtempSync(join(tmpdir(), "askd-store-"));
  const path = join(directory, "askd.db");
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await openSqliteStore(path);
    stores.push(store);
    return store;
  };
  return {
    store: await open(),
    another: open,
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      rmSync(directory, { recursive: true });
    },
  };
});
