import { isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { parseInput } from "./step-input.ts";
import { type StepContext, StepError, type StepTool, runVariables } from "./tool.ts";

const Words = z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String)).min(1);
const ShellInput = z
  .strictObject({
    argv: Words.optional(),
    command: Words.optional(),
    /** A folder of the working tree. */
    dir: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    stdin: z.string().optional(),
  })
  .refine(({ argv, command }) => (argv === undefined) !== (command === undefined), {
    message: "write the program and its arguments as a list in argv",
  });

/** Runs a program with its arguments in the run's working tree; there is no shell in between. */
export const shell: StepTool = {
  isRepeatable: false,
  keys: Object.keys(ShellInput.shape),
  async run(input, context) {
    const { argv, command, dir, env, stdin } = parseInput(ShellInput, input, "shell");
    const result = await context.outside.runProgram({
      argv: argv ?? command ?? [],
      dir: await folderIn(context, dir),
      env: { ...context.outside.env, ...env, ...runVariables(context.run) },
      input: stdin,
      signal: context.signal,
    });
    const { exitCode, stdout, stderr } = result;
    const output = [stdout.trimEnd(), stderr.trimEnd()].join("\n").trim();
    if (context.signal.aborted) throw new StepError("stopped", "The program was stopped", { output });
    if (exitCode !== 0) {
      const said = (stderr.trim() || stdout.trim()).split("\n").at(-1) ?? "";
      const message = `The program ended with exit code ${exitCode}${said === "" ? "" : `: ${said}`}`;
      throw new StepError("exit_code", message, { output });
    }
    return { exitCode, stdout, stderr, json: parseJson(stdout) };
  },
};

async function folderIn({ openTree }: StepContext, dir: string | undefined) {
  const tree = await openTree();
  if (dir === undefined) return tree.dir;
  const folder = join(tree.dir, dir);
  const way = relative(tree.dir, folder);
  if (!way.startsWith("..") && !isAbsolute(way) && !isAbsolute(dir)) return folder;
  throw new StepError("bad_input", "dir must be a folder of the working tree");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // most programs print text
  }
}
