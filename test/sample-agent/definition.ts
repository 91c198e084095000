import { join } from "node:path";
import { type Agent, type Start, type Task, messageOf } from "../../src/agents/agent.ts";
import { oneFileClient } from "../../src/agents/wiring.ts";
import { commonStart } from "../../src/agents/mcp-config.ts";
import type { AgentDefinition } from "../../src/agents/registry.ts";

const sample: Agent = {
  name: "sample",
  program: "sample-agent",
  parseArgs: (args) => ({ args, prompt: undefined }),
  start: (task) => build(task, task.prompt),
  resume: (task, how) => build(task, messageOf(how)),
  read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }],
  witness: () => Promise.resolve("unknown"),
  limitsKeptBy: "agent",
  takeover: (session, program) => [program, "--resume", session],
};

const sampleWiring = oneFileClient({
  name: "sample",
  title: "Sample Agent",
  programs: ["sample-agent"],
  homes: ({ homeDir }) => [join(homeDir, ".sample")],
  file: (_scope, { homeDir }) => join(homeDir, ".sample", "settings.json"),
  key: "servers",
});

function build(task: Task, stdin: string | undefined): Start {
  const { env, files } = commonStart(task);
  return { argv: [task.program, ...task.args], env, files, stdin, session: undefined, prints: "lines", added: [] };
}

/** An agent as small as one can be: what a new folder below src/agents exports. */
export const sampleDefinition: AgentDefinition = {
  agent: sample,
  client: sampleWiring,
  projectFiles: [".sample/settings.json"],
};
