import { claudeDefinition } from "./claude/definition.ts";
import { codexDefinition } from "./codex/definition.ts";
import { command } from "./command/command.ts";
import { geminiDefinition } from "./gemini/definition.ts";
import { opencodeDefinition } from "./opencode/definition.ts";
import type { AgentRegistry } from "./registry.ts";

/** Every agent of askd. A new one takes a folder, a line here and a page in docs. */
export const AGENTS: AgentRegistry = [
  claudeDefinition,
  codexDefinition,
  geminiDefinition,
  opencodeDefinition,
  { agent: command },
];
