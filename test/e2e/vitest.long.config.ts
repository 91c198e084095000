import { defineConfig } from "vitest/config";

/** What takes minutes because a client's own clock is what is tested. */
export default defineConfig({
  test: {
    include: ["test/e2e/*.long.ts"],
    globalSetup: ["test/e2e/install.ts", "test/lean-environment.ts"],
    pool: "forks",
    testTimeout: 330_000,
    hookTimeout: 30_000,
    reporters: ["verbose"],
  },
});
