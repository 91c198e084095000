import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
// Inside node_modules, so that the bundle finds the packages it leaves out.
const BUNDLES = join(ROOT, "node_modules", ".askd-test");

/** A program in a process of its own, which talks in lines. */
export interface Child {
  process: ChildProcess;
  /** The next line that it prints; rejects when it ends without one. */
  line(): Promise<string>;
  say(text: string): void;
  exited: Promise<number | null>;
}

/** Bundles a TypeScript file, given from the root of the project, into one that Node can run. */
export async function bundle(file: string): Promise<string> {
  mkdirSync(BUNDLES, { recursive: true });
  const outfile = join(BUNDLES, `${file.replaceAll(/\W/g, "-")}-${process.pid}.mjs`);
  const entryPoints = [join(ROOT, file)];
  await build({ entryPoints, outfile, bundle: true, packages: "external", platform: "node", format: "esm" });
  return outfile;
}

/** Starts a bundled program. */
export function start(program: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    line: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} ended without another line.`);
      return value;
    },
    say: (text) => void child.stdin.write(`${text}\n`),
    exited: new Promise((resolve) => child.on("close", resolve)),
  };
}
