import { stopRun, type StopInput } from "./stop.ts";

// Stops a run, given as JSON, from a process of its own and prints the result.
const input: StopInput = JSON.parse(process.argv[2] ?? "");
console.log(JSON.stringify(await stopRun(input)));
