import { basename } from "node:path";
import type { Agent } from "../../../agents/agent.ts";
import { agentOf, agents, chooseWay } from "../../../agents/agents.ts";
import { command as commandAgent } from "../../../agents/command/command.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";

/** What is configured for an agent. */
export type AgentSection = NonNullable<Context["config"]["values"]["agents"]>[string];

/** The agent that goes by this name, ours or one that was configured, and what is configured for it. */
export function getAgent(name: string, { config, env }: Context): { agent: Agent; section: AgentSection } {
  const sections = config.values.agents ?? {};
  const section = (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {};
  const known = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (known) return { agent: chooseWay(known, env), section };
  if (section.argv) return { agent: commandAgent, section };
  throw new Refusal("bad_input", `There is no agent "${oneLine(name)}"`, {
    hint: `Choose from: ${[...new Set([...Object.keys(agents), ...Object.keys(sections)])].map(oneLine).join(", ")}`,
  });
}

/** The agent whose program this is, and what is configured by its name or that of the program. */
export function findAgent(program: string, { config, env }: Context): { agent: Agent; section: AgentSection } {
  const sections = config.values.agents ?? {};
  const agent = agentOf(program);
  const name = agent.program === "" ? basename(program) : agent.name;
  return { agent: chooseWay(agent, env), section: (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {} };
}
