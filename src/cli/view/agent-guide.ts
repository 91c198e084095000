import { howToAskByTool } from "../../core/run/how-to-ask.ts";
import { renderGuideBlock } from "../../setup/project-file.ts";

/** The text of the skill file that teaches an agent to ask. */
export function renderSkill(): string {
  return `---
name: ask-human
description: Ask a person a question and get the answer back, seconds or days later. Use when you are really stuck, or when a wrong guess would be costly or hard to undo.
---

# Ask a person

${howToAskByTool()}

Without the tool, but with a shell: \`askd ask "Redis or Memcached?" -o Redis -o Memcached --wait 10m\` prints the
answer. If it prints nothing, the question still waits: stop, and look again later with \`askd check <id>\`.
`;
}

/** The output of `askd help agents`: a block for AGENTS.md or CLAUDE.md. */
export function renderAgentsHelp(): string {
  return `Agents learn to ask from the tool itself (askd mcp), from askd run, or from the skill ask-human.
To teach it to all agents of a project, put this block into AGENTS.md or CLAUDE.md (askd init --instructions does):

${renderGuideBlock()}
`;
}
