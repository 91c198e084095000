import { openEngine } from "../../src/app.ts";
import { GITHUB_TOKEN } from "../channels/github-server.ts";
import { REPO } from "../channels/github-view.ts";
import { ROOMY } from "../scene.ts";
import { StepTask } from "./step-task.ts";

// One worker that does steps of workflows, as a process of its own. At the station that it is told, it kills itself.
const { place, stateDir, github, kill, leaseMs } = StepTask.parse(JSON.parse(process.argv[2] ?? ""));

const engine = await openEngine({
  store:
    place.database === "sqlite" ? { kind: "sqlite", file: place.address } : { kind: "postgres", url: place.address },
  rules: ROOMY,
  reach: {
    github: {
      url: github,
      repos: [REPO],
      fallback: undefined,
      teams: [],
      mention: [],
      visibility: "full",
      pollMs: 60_000,
      writeMs: 0,
      readToken: () => GITHUB_TOKEN,
      app: undefined,
      readHookSecret: () => undefined,
    },
  },
  runs: {
    stateDir,
    askd: [],
    env: process.env,
    note: (run, text) => void process.stderr.write(`${run}: ${text}\n`),
    workflows: { mcpServers: [], agents: {}, readSecrets: () => ({}), secretVariables: [], leaseMs },
    onStep: (station) => {
      if (station === kill) process.kill(process.pid, "SIGKILL");
    },
  },
});
process.once("SIGTERM", () => void engine.stop());
await engine.work();
