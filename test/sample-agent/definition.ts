import { join } from "node:path";
import type { Agent, Start, Task } from "../../src/agents/agent.ts";
import { wiredServerArgv } from "../../src/agents/desired-server.ts";
import { messageOf } from "../../src/agents/error-message.ts";
import { SERVER, commonStart } from "../../src/agents/mcp-config.ts";
import type { AgentDefinition } from "../../src/agents/registry.ts";
import type { Client } from "../../src/agents/wiring.ts";

const sample: Agent = {
  name: "sample",
  program: "sample-agent",
  parseArgs: (args) => ({ args, prompt: undefined }),
  start: (task) => build(task, task.prompt),
  resume: (task, how) => build(task, messageOf(how)),
  read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }],
  witness: () => Promise.resolve("unknown"),
  takeover: (session, program) => [program, "--resume", session],
};

const sampleWiring: Client = {
  name: "sample",
  title: "Sample Agent",
  programs: ["sample-agent"],
  homes: ({ homeDir }) => [join(homeDir, ".sample")],
  targets: (scope, around) => [
    {
      file: join(around.homeDir, ".sample", "settings.json"),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["servers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: {},
        },
      ],
    },
  ],
};

function build(task: Task, stdin: string | undefined): Start {
  const { env, files } = commonStart(task);
  return { argv: [task.program, ...task.args], env, files, stdin, session: undefined, prints: "lines", added: [] };
}

/** An agent as small as one can be: what a new folder below src/agents exports. */
export const sampleDefinition: AgentDefinition = { agent: sample, client: sampleWiring };
