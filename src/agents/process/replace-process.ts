import { spawn } from "node:child_process";
import { EXIT_CODE } from "../../core/exit-code.ts";
import type { BridgeHost } from "../bridge.ts";

/** Runs a program to its end in place of a bridge, with the prompt on its stdin; its output goes where ours goes. */
export async function runInstead(
  argv: readonly string[],
  prompt: string,
  { cwd, env, interrupt, complain }: Pick<BridgeHost, "cwd" | "env" | "interrupt" | "complain">,
): Promise<number> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "inherit", "inherit"] });
  child.stdin.on("error", () => undefined); // it ended before it had read all, which its exit code tells
  child.stdin.end(prompt);
  interrupt().addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
  return new Promise((resolve) => {
    child.once("error", (error) => {
      complain(`${program} cannot be started: ${error.message}`);
      resolve(EXIT_CODE.error);
    });
    child.once("close", (code) => resolve(code ?? EXIT_CODE.error));
  });
}
