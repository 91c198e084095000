import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { Refusal } from "../core/refusal.ts";

const LONGEST_MS = 10_000;
const LONGEST_EXPRESSION = 10_000;
/** The most JSON that --jq takes. */
export const MOST_JQ_CHARS = 64 * 1024 * 1024;

// In a thread of its own: an expression may loop forever, and only a thread can be ended.
const THREAD = `
const { parentPort, workerData: { path, text, expression, flags } } = require("node:worker_threads");
require(path).raw(text, expression, flags).then(
  (output) => parentPort.postMessage({ output }),
  (error) => parentPort.postMessage({ problem: String(error && error.message) }));
`;

interface Replied {
  output?: string;
  problem?: string;
}

/** Applies a jq expression to JSON text; prints strings as they are, everything else as JSON. */
export async function runJq(text: string, expression: string, options: { isPretty: boolean }): Promise<string> {
  if (expression.length > LONGEST_EXPRESSION) {
    throw new Refusal("bad_input", `The --jq expression is longer than ${LONGEST_EXPRESSION} characters`);
  }
  const require = createRequire(import.meta.url);
  const path = require.resolve("jq-wasm");
  const flags = options.isPretty ? ["-r"] : ["-r", "-c"];
  const worker = new Worker(THREAD, { eval: true, workerData: { path, text, expression, flags } });
  try {
    const { output = "", problem } = await replyOf(worker);
    if (problem !== undefined) throw badExpression(problem);
    return output === "" || output.endsWith("\n") ? output : `${output}\n`;
  } finally {
    await worker.terminate();
  }
}

/** Refuses an invalid expression before the command runs. */
export async function requireJq(expression: string): Promise<void> {
  await runJq("", expression, { isPretty: false });
}

function replyOf(worker: Worker): Promise<Replied> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ problem: `it did not end within ${LONGEST_MS / 1000} seconds` }),
      LONGEST_MS,
    );
    const done = (reply: Replied): void => {
      clearTimeout(timer);
      resolve(reply);
    };
    worker.once("message", (reply: Replied) => done(reply)); // sent by the lines above
    worker.once("error", (error: Error) => done({ problem: error.message }));
    worker.once("exit", () => done({ problem: "it ended without a result" }));
  });
}

function badExpression(problem: string): Refusal {
  const said = problem.replace(/^Failed to execute raw query: /, "").replace(/^jq: /, "");
  const line = said.split("\n")[0] ?? said;
  return new Refusal("bad_input", `The --jq expression failed: ${line.slice(0, 300)}`, {
    hint: "Look at the JSON with --json, and see: askd help json",
  });
}
