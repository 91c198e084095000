import type { KnownClient } from "../core/door/client-profile.ts";
import type { HookClient, PermissionPrompt } from "../core/door/hook.ts";
import type { KnownClients } from "../core/door/known-clients.ts";
import type { Agent } from "./agent.ts";
import type { Bridge } from "./bridge.ts";
import type { ProbeAgent } from "./probe.ts";
import type { Client } from "./wiring.ts";

/** Another way of starting an agent, chosen by a variable with that value. */
interface AgentWay {
  agent: Agent;
  env: string;
  is: string;
}

/** Everything that askd knows of one agent: its folder exports this, and the registry has a line for it. */
export interface AgentDefinition {
  /** How it is started, resumed and read. */
  agent: Agent;
  ways?: readonly AgentWay[];
  /** Its settings: `askd init` writes them and `askd doctor` checks them. */
  client?: Client;
  /** Its settings in a project: files and folders that a working tree of a run needs too. */
  projectFiles?: readonly string[];
  /** How it behaves as a client of our MCP server. */
  profile?: KnownClient;
  hook?: HookClient;
  /** For an agent that asks a tool of ours for permission. */
  permissionPrompt?: PermissionPrompt;
  /** Is the client of the agent's own server; loaded when used. */
  bridge?(): Promise<{ bridge: Bridge }>;
  /** How its limits are measured. */
  probe?: ProbeAgent;
}

/** The agents that can be started, in the order in which they are shown. */
export type AgentRegistry = readonly AgentDefinition[];

/** Every agent, in each of its ways, by name. */
export function agentsByName(registry: AgentRegistry): Readonly<Record<string, Agent>> {
  const agents = registry.map(({ agent }) => agent);
  const others = registry.flatMap(({ ways = [] }) => ways.map(({ agent }) => agent));
  return Object.fromEntries([...agents, ...others].map((agent) => [agent.name, agent]));
}

/** The agent of that name, which may come from anywhere. */
export function findAgent(registry: AgentRegistry, name: string): Agent | undefined {
  const agents = agentsByName(registry);
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** The agent whose program this is. */
export function findAgentOf(registry: AgentRegistry, program: string): Agent | undefined {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return registry.find(({ agent }) => agent.program === name)?.agent;
}

/** The agent in the way that the environment chooses. */
export function chooseWay(
  registry: AgentRegistry,
  agent: Agent,
  env: Readonly<Record<string, string | undefined>>,
): Agent {
  const definition = registry.find((one) => one.agent === agent);
  return definition?.ways?.find((way) => env[way.env] === way.is)?.agent ?? agent;
}

/** The agents that go by a program of their own, by name: those that a person can name. */
export function namedAgents(registry: AgentRegistry): string[] {
  return registry.flatMap(({ agent }) => (agent.program === "" ? [] : [agent.name]));
}

/** The names of the agents that keep limits: what they cost is known. */
export function limitedAgentsOf(registry: AgentRegistry): string[] {
  return registry.flatMap(({ agent }) => (agent.limitsKeptBy === undefined ? [] : [agent.name]));
}

/** The agents that can be limited in turns or dollars, as people know them. */
export function limitedAgentTitles(registry: AgentRegistry): string[] {
  return registry.flatMap(({ agent, client }) =>
    agent.limitsKeptBy === undefined ? [] : (client?.title ?? agent.name),
  );
}

/** The settings of all agents in a project. */
export function projectFilesOf(registry: AgentRegistry): string[] {
  return [...new Set(registry.flatMap(({ projectFiles = [] }) => projectFiles))];
}

/** The agents' clients, for the doors of a server. */
export function knownClients(registry: AgentRegistry): KnownClients {
  return {
    profiles: registry.flatMap(({ profile }) => profile ?? []),
    permissionPrompt: registry.find(({ permissionPrompt }) => permissionPrompt)?.permissionPrompt,
  };
}
