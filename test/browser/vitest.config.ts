import { defineConfig } from "vitest/config";
import { LongestFirst } from "../longest-first.ts";

/** Real browsers on the built program. */
export default defineConfig({
  test: {
    include: ["test/browser/*.browser.ts"],
    globalSetup: ["test/lean-environment.ts"],
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    fileParallelism: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
