import type { Agent } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

/** The agents that can be started, by name. */
export const agents: Readonly<Record<string, Agent>> = { claude, codex, gemini, opencode, command };

/** The agent whose program this is; any other program is a command. */
export function agentOf(program: string): Agent {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return Object.values(agents).find((agent) => agent.program === name) ?? command;
}
