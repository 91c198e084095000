import { basename } from "node:path";
import type { Agent } from "../../../agents/agent.ts";
import { agentsByName, chooseWay, findAgent, findAgentOf } from "../../../agents/registry.ts";
import { command as commandAgent } from "../../../agents/command/command.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";

/** The settings of an agent. */
export type AgentSection = NonNullable<Context["config"]["values"]["agents"]>[string];

/** The built-in or configured agent of this name, and its settings. */
export async function getAgent(name: string, context: Context): Promise<{ agent: Agent; section: AgentSection }> {
  const { config, env } = context;
  const registry = await context.agents();
  const sections = config.values.agents ?? {};
  const section = (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {};
  const known = findAgent(registry, name);
  if (known) return { agent: chooseWay(registry, known, env), section };
  if (section.argv) return { agent: commandAgent, section };
  throw new Refusal("bad_input", `There is no agent "${oneLine(name)}"`, {
    hint: `Choose from: ${[...new Set([...Object.keys(agentsByName(registry)), ...Object.keys(sections)])].map(oneLine).join(", ")}`,
  });
}

/** The agent of a program, and the settings under the name of the agent or the program. */
export async function findAgentSection(
  program: string,
  context: Context,
): Promise<{ agent: Agent; section: AgentSection }> {
  const { config, env } = context;
  const registry = await context.agents();
  const sections = config.values.agents ?? {};
  const agent = findAgentOf(registry, program) ?? commandAgent;
  const name = agent.program === "" ? basename(program) : agent.name;
  const section = (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {};
  return { agent: chooseWay(registry, agent, env), section };
}
