import { defaultExclude, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";

/**
 * Folders whose tests start no program and change nothing outside of themselves. Their files share the modules that a
 * worker has loaded: loading them again for each file takes longer than most of these tests.
 */
const FOLDERS = ["channels", "cli", "config", "core", "doctor", "edit", "engine", "server", "setup", "web", "workflow"];
const SHARING = FOLDERS.map((name) => `src/${name}/**/*.test.ts`);

/** Tests in these folders that do start programs, or change the process they run in. */
const STARTING = [
  "src/cli/built*.test.ts",
  ...["commands", "descriptor", "init-terminal", "keeping", "process-tree", "remote", "work"].map(
    (name) => `src/cli/${name}.test.ts`,
  ),
  ...["agent/hook", "agent/hook-launch", "agent/mcp", "doctor/doctor"].map(
    (name) => `src/cli/commands/${name}.test.ts`,
  ),
];

/** Runs the tests of other files once more, which only register themselves where they are loaded anew. */
const REPEATING = "src/engine/remote/remote-engine.test.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/lean-environment.ts", "test/global-setup.ts"],
    pool: "forks", // native database drivers and child processes do not share a process well
    maxWorkers: 3, // many tests wait for the programs that they start, so two cores carry three of them
    sequence: { sequencer: LongestFirst },
    testTimeout: 90_000,
    hookTimeout: 90_000,
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: [`src/!(${FOLDERS.join("|")})/**/*.test.ts`, "src/*.test.ts", "test/**/*.test.ts", ...STARTING],
          exclude: defaultExclude,
        },
      },
      { extends: true, test: { name: "repeating", include: [REPEATING] } },
      {
        extends: true,
        test: {
          name: "sharing",
          include: SHARING,
          exclude: [...defaultExclude, REPEATING, ...STARTING],
          isolate: false,
        },
      },
    ],
  },
});
