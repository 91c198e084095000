import { defineConfig } from "vitest/config";
import { LongestFirst } from "../longest-first.ts";

/** Real programs, each in a process of its own: they take seconds, and two at a time are enough for two cores. */
export default defineConfig({
  test: {
    include: ["test/e2e/*.e2e.ts", "test/channels/*.e2e.ts"],
    globalSetup: ["test/e2e/install.ts", "test/lean-environment.ts"],
    pool: "forks",
    maxWorkers: 2,
    maxConcurrency: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 30_000,
    reporters: ["verbose"],
  },
});
