import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { Refusal } from "../core/refusal.ts";
import type { Context, Output } from "./context.ts";
import { sanitise } from "./view/sanitise.ts";
import { toPlainLines } from "./terminal/screen-reader.ts";

/** Longer output is not buffered for a pager. */
const MOST_PAGED_CHARS = 16 * 1024 * 1024;

/** Replaces stdout until the command is done. */
interface Outlet {
  stdout: Output;
  /** The command succeeded. */
  end(): Promise<void>;
  /** The command failed: its output so far is shown. */
  fail(): void;
}

const LONGEST_MS = 10_000;
const LONGEST_EXPRESSION = 10_000;
/** The most JSON that --jq takes. */
const MOST_JQ_CHARS = 64 * 1024 * 1024;

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

/** Runs the command with its output through jq, into a pager, or as plain text. */
export async function runThrough(
  context: Context,
  { isLong, jq }: { isLong: boolean; jq: string | undefined },
  run: (context: Context) => Promise<number>,
): Promise<number> {
  const said = context.isAccessible && !context.json ? inWords(context) : context;
  const outlet = jq === undefined ? (isLong ? pagerFor(said) : undefined) : jqFor(said, jq);
  if (!outlet) return run(said);
  if (jq !== undefined) await requireJq(jq);
  try {
    const exit = await run({ ...said, stdout: outlet.stdout });
    await outlet.end();
    return exit;
  } catch (error) {
    outlet.fail();
    throw error;
  }
}

/** Replaces icons and lines by words; output that is not a terminal changes only if a flag asks for it. */
function inWords(context: Context) {
  const flat = (output: Output): Output => ({
    isTty: output.isTty,
    columns: output.columns,
    rows: output.rows,
    write: (text) => output.write(toPlainLines(text)),
  });
  return { ...context, stdout: flat(context.stdout), stderr: flat(context.stderr) };
}

function jqFor({ stdout }: Context, expression: string): Outlet {
  let text = "";
  return {
    stdout: { ...sizeOf(stdout), isTty: false, write: (more) => void (text += more) },
    end: async () => {
      if (text.length > MOST_JQ_CHARS) {
        throw new Refusal("too_large", "The JSON is too large for --jq", {
          hint: "Pipe --json into jq instead",
        });
      }
      const output = await runJq(text, expression, { isPretty: stdout.isTty });
      stdout.write(stdout.isTty ? sanitise(output) : output);
    },
    fail: () => undefined,
  };
}

/** Long output goes to the pager, but only on a terminal where a person can close it. */
function pagerFor(context: Context): Outlet | undefined {
  const { stdout, json, mayPrompt } = context;
  if (!stdout.isTty || json || !mayPrompt || stdout.rows === undefined) return undefined;
  let text = "";
  let isFull = false;
  const flush = () => {
    stdout.write(text);
    text = "";
  };
  return {
    stdout: {
      ...sizeOf(stdout),
      isTty: true,
      write: (more) => {
        text += more;
        isFull ||= text.length > MOST_PAGED_CHARS;
        if (isFull) flush();
      },
    },
    end: async () => {
      const isShort = text.split("\n").length <= (stdout.rows ?? 0);
      if (isFull || isShort || !(await (await import("./terminal/pager.ts")).showInPager(text, context))) flush();
    },
    fail: flush,
  };
}

function sizeOf({ columns, rows }: Output): Pick<Output, "columns" | "rows"> {
  return { columns, rows };
}

/** Applies a jq expression to JSON text; prints strings as they are, everything else as JSON. */
async function runJq(text: string, expression: string, options: { isPretty: boolean }) {
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
async function requireJq(expression: string) {
  await runJq("", expression, { isPretty: false });
}

function replyOf(worker: Worker): Promise<Replied> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ problem: `it did not end within ${LONGEST_MS / 1000} seconds` }),
      LONGEST_MS,
    );
    const done = (reply: Replied) => {
      clearTimeout(timer);
      resolve(reply);
    };
    worker.once("message", (reply: Replied) => done(reply)); // sent by the lines above
    worker.once("error", (error: Error) => done({ problem: error.message }));
    worker.once("exit", () => done({ problem: "it ended without a result" }));
  });
}

function badExpression(problem: string) {
  const said = problem.replace(/^Failed to execute raw query: /, "").replace(/^jq: /, "");
  const line = said.split("\n")[0] ?? said;
  return new Refusal("bad_input", `The --jq expression failed: ${line.slice(0, 300)}`, {
    hint: "Look at the JSON with --json, and see: askd help json",
  });
}
