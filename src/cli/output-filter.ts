import { Refusal } from "../core/refusal.ts";
import type { Context, Output } from "./context.ts";
import { flatten } from "./terminal/screen-reader.ts";

/** Pages that are longer than this are not kept back for a pager. */
const MOST_PAGED_CHARS = 16 * 1024 * 1024;

/** Where a command writes to in place of stdout, until it is done. */
interface Outlet {
  stdout: Output;
  /** The command has ended well. */
  end(): Promise<void>;
  /** It has not: what it wrote so far is shown. */
  fail(): void;
}

/** Runs the command with its output going where the flags want it: through jq, into a pager, or in plain words. */
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

/** Words in place of icons and lines; what is no terminal is changed only if a flag says so. */
function inWords(context: Context): Context {
  const flat = (output: Output): Output => ({
    ...{ isTty: output.isTty, columns: output.columns, rows: output.rows },
    write: (text) => output.write(flatten(text)),
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
        throw new Refusal("too_large", "There is too much JSON for --jq", {
          hint: "Pipe --json into a jq of your own",
        });
      }
      const output = await runJq(text, expression, { isPretty: stdout.isTty });
      stdout.write(stdout.isTty ? (await import("./view/sanitise.ts")).sanitise(output) : output);
    },
    fail: () => undefined,
  };
}

/** Long pages go to the pager, but only on a terminal where a person can leave it again. */
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
      if (isFull || isShort || !(await (await import("./pager.ts")).showInPager(text, context))) flush();
    },
    fail: flush,
  };
}

function sizeOf({ columns, rows }: Output): Pick<Output, "columns" | "rows"> {
  return { columns, rows };
}
