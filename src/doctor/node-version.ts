import { isOlder } from "../agents/version.ts";
import { open, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { findProgram, readVersion } from "../agents/runner/launch.ts";
import type { ServerStart } from "./mcp-handshake.ts";

/** The oldest Node that askd runs on. */
export const LEAST_NODE = "20.19";

/** Says whether this version of Node is too old for askd. */
export function isOldNode(version: string): boolean {
  return isOlder(version, [20, 19, 0]);
}

const HEAD_BYTES = 200;

/** Finds the Node a command would run on, if it is too old for askd. */
export async function findOldNode({
  argv,
  env,
  cwd,
}: ServerStart): Promise<{ node: string; version: string } | undefined> {
  const node = await findNode(argv[0] ?? "", { env, cwd });
  const version = node === undefined ? undefined : await readVersion(node, { env, dir: cwd });
  return node !== undefined && version !== undefined && isOldNode(version) ? { node, version } : undefined;
}

/** Finds the Node behind a program: itself, or the one its first line names. */
async function findNode(name: string, { env, cwd }: Omit<ServerStart, "argv">): Promise<string | undefined> {
  const program = await findProgram(name, env, cwd);
  if (program === undefined) return undefined;
  if (/^node(js)?$/.test(basename(program))) return program;
  const line = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(await readHead(await realpath(program)));
  const named = basename(line?.[1] ?? "") === "env" ? line?.[2] : line?.[1];
  if (named === undefined || !/^node(js)?$/.test(basename(named))) return undefined;
  return findProgram(named, env, cwd);
}

async function readHead(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await handle.close();
  }
}
