import { openEngine } from "../../src/app.ts";
import { ROOMY } from "../scene.ts";
import { WorkerTask } from "./run-task.ts";

// One worker as a process of its own. At the step that it is told, it ends or stops itself by a signal.
const task = WorkerTask.parse(JSON.parse(process.argv[2] ?? ""));
const { place, stateDir, askd, at } = task;
let left = at?.nth ?? 0;

const engine = await openEngine({
  store:
    place.database === "sqlite" ? { kind: "sqlite", file: place.address } : { kind: "postgres", url: place.address },
  rules: ROOMY,
  runs: {
    stateDir,
    askd,
    env: process.env,
    note: (run, text) => void process.stderr.write(`${run}: ${text}\n`),
    onStep: (step) => {
      process.stdout.write(`${step}\n`);
      if (step !== at?.step) return;
      left -= 1;
      if (left === 0) process.kill(process.pid, at.signal);
    },
  },
});
process.once("SIGTERM", () => void engine.stop());
process.stdout.write("READY\n");
await engine.work();
