import type { Agent } from "./agent.ts";
import { claude } from "./claude/claude.ts";
import { codexApp } from "./codex/app-server.ts";
import { codex } from "./codex/codex.ts";
import { command } from "./command/command.ts";
import { gemini } from "./gemini/gemini.ts";
import { opencodeServe } from "./opencode/serve.ts";
import { opencode } from "./opencode/opencode.ts";

/** The agents that can be started, by name. */
export const agents: Readonly<Record<string, Agent>> = {
  ...{ claude, codex, gemini, opencode, command },
  [codexApp.name]: codexApp,
  [opencodeServe.name]: opencodeServe,
};

/** The agent that goes by this name, which may come from anywhere. */
export function findAgent(name: string): Agent | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** The agent whose program this is; any other program is a command. */
export function agentOf(program: string): Agent {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return Object.values(agents).find((agent) => agent.program === name) ?? command;
}

/** The way of starting an agent that the environment chooses, where there are two. */
export function chooseWay(agent: Agent, env: Readonly<Record<string, string | undefined>>): Agent {
  if (agent === codex && env["ASKD_CODEX"] === "app-server") return codexApp;
  if (agent === opencode && env["ASKD_OPENCODE"] === "serve") return opencodeServe;
  return agent;
}
