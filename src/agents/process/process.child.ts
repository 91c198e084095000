import { createInterface } from "node:readline";
import { startProcess, type ProcessStart } from "./process.ts";

// A starter in a process of its own: for each line, a start as JSON, it starts an agent and prints the result.
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const input: ProcessStart = JSON.parse(line);
  console.log(JSON.stringify(await startProcess(input)));
}
