import type { AgentDefinition } from "../registry.ts";
import { command } from "./command.ts";

/** Any other program: it has no settings, no hook and no limits of its own. */
export const commandDefinition: AgentDefinition = { agent: command };
