import { existsSync } from "node:fs";
import { SECOND_MS } from "../core/instant.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import { findProgram, readVersion } from "../agents/runner/launch.ts";
import type { ClientSurroundings, Client } from "../agents/wiring.ts";
import { copilot } from "./clients/copilot.ts";
import { cursor } from "./clients/cursor.ts";
import { goose } from "./clients/goose.ts";
import { vscode } from "./clients/vscode.ts";
import { zed } from "./clients/zed.ts";

/** Programs that askd wires and never starts: all that it knows of them are their settings. */
const ONLY_WIRED: readonly Client[] = [cursor, vscode, copilot, zed, goose];

/** Some programs take seconds to say their version; nothing depends on it. */
const VERSION_MS = 8 * SECOND_MS;

/** A client that is in use on this machine. */
export interface FoundClient {
  client: Client;
  /** Its program, where it is on the path, and what it says its version is. */
  program?: string;
  version?: string;
  /** The folder or file that shows that it is in use. */
  home?: string;
}

/** Every client whose files can be changed, in the order in which they are shown: agents first. */
export function clientsOf(registry: AgentRegistry): Client[] {
  return [...registry.flatMap(({ client }) => client ?? []), ...ONLY_WIRED];
}

/** The client of that name, or with that program. */
export function findClient(clients: readonly Client[], name: string): Client | undefined {
  return clients.find((client) => client.name === name || client.programs.includes(name));
}

/** Looks for a client: a program on the path, or settings of its own. */
export async function findOne(client: Client, around: ClientSurroundings): Promise<FoundClient | undefined> {
  const program = await findFirst(client.programs, around);
  const home = client.homes(around).find((path) => existsSync(path));
  if (program === undefined && home === undefined) return undefined;
  const at = { env: around.env, dir: around.dir, limitMs: VERSION_MS };
  const version = program === undefined ? undefined : await readVersion(program, at);
  return {
    client,
    program,
    version,
    home,
  };
}

/** Every client that is in use here. */
export async function findClients(clients: readonly Client[], around: ClientSurroundings): Promise<FoundClient[]> {
  const found = await Promise.all(clients.map((client) => findOne(client, around)));
  return found.filter((one) => one !== undefined);
}

async function findFirst(names: readonly string[], { env, dir }: ClientSurroundings): Promise<string | undefined> {
  for (const name of names) {
    const program = await findProgram(name, env, dir);
    if (program !== undefined) return program;
  }
  return undefined;
}
