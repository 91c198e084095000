import { Refusal } from "../core/refusal.ts";
import type { Context, Output } from "./context.ts";
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

/** Runs the command with its output through jq, into a pager, or as plain text. */
export async function runThrough(
  context: Context,
  { isLong, jq }: { isLong: boolean; jq: string | undefined },
  run: (context: Context) => Promise<number>,
): Promise<number> {
  const said = context.isAccessible && !context.json ? inWords(context) : context;
  const outlet = jq === undefined ? (isLong ? pagerFor(said) : undefined) : jqFor(said, jq);
  if (!outlet) return run(said);
  if (jq !== undefined) await (await import("./jq.ts")).requireJq(jq);
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
function inWords(context: Context): Context {
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
      const { MOST_JQ_CHARS, runJq } = await import("./jq.ts");
      if (text.length > MOST_JQ_CHARS) {
        throw new Refusal("too_large", "The JSON is too large for --jq", {
          hint: "Pipe --json into jq instead",
        });
      }
      const output = await runJq(text, expression, { isPretty: stdout.isTty });
      stdout.write(stdout.isTty ? (await import("./view/sanitise.ts")).sanitise(output) : output);
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
  const flush = (): void => {
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
