import { oneLine } from "./sanitise.ts";

const NAMES: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  "codex-app": "Codex",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
  "opencode-serve": "OpenCode",
};

/** The display name of an agent. */
export function sayAgent(agent: string): string {
  return Object.hasOwn(NAMES, agent) ? (NAMES[agent] ?? agent) : oneLine(agent);
}
