import { join } from "node:path";
import { findText, replaceFile } from "./process/private-file.ts";

const FILE = "tools";
const ASKING = /(?:^|_)ask_human$|^AskUserQuestion$/;

/**
 * Says whether an agent that could ask when it was first started has come back without its tools for it: a resumed
 * session can lose its servers. One that never had them was started like that on purpose.
 */
export async function hasLostTools(runDir: string, tools: readonly string[]): Promise<boolean> {
  if (tools.some((name) => ASKING.test(name))) {
    await replaceFile(join(runDir, FILE), "could ask\n");
    return false;
  }
  return (await findText(join(runDir, FILE))) !== undefined;
}
