import { later } from "../../src/core/instant.ts";
import { NOON } from "../builders.ts";
import { MemoryStore } from "./memory.ts";
import { storeSuite } from "../store-suite/store.suite.ts";

storeSuite("memory", async () => {
  let now = NOON;
  const store = new MemoryStore(() => now);
  return {
    store,
    another: async () => store,
    pass: async (ms) => {
      now = later(now, ms);
    },
    close: () => store.close(),
  };
});
