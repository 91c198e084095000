import { openEngine } from "../../src/app.ts";
import { GITHUB_TOKEN } from "../channels/github-server.ts";
import { REPO } from "../channels/github-view.ts";
import { ROOMY } from "../scene.ts";
import { StepTask } from "./step-task.ts";

// One worker that does steps of workflows, as a process of its own. At the station that it is told, it kills itself.
const { place, stateDir, github, kill, leaseMs, tools, agent } = StepTask.parse(JSON.parse(process.argv[2] ?? ""));

const times = new Map<string, number>();

/** How often it has come to a station, as the name of the station says it from the second time on. */
function nameVisit(station: string): string {
  const count = (times.get(station) ?? 0) + 1;
  times.set(station, count);
  return count === 1 ? station : `${station}#${count}`;
}

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
    workflows: {
      mcpServers: [{ name: "journal", command: tools }],
      agents: { scripted: { argv: agent } },
      readSecrets: () => ({}),
      secretVariables: [],
      leaseMs,
    },
    onStep: (station) => {
      if (nameVisit(station) === kill) process.kill(process.pid, "SIGKILL");
    },
  },
});
process.once("SIGTERM", () => void engine.stop());
await engine.work();
