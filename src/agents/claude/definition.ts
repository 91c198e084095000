import type { AgentDefinition } from "../registry.ts";
import { claude } from "./claude.ts";
import { claudeHook, claudePermissionPrompt } from "./hook.ts";
import { claudeProbe } from "./probe.ts";
import { claudeProfile } from "./profile.ts";
import { claudeWiring } from "./wiring.ts";

export const claudeDefinition: AgentDefinition = {
  agent: claude,
  client: claudeWiring,
  profile: claudeProfile,
  hook: claudeHook,
  permissionPrompt: claudePermissionPrompt,
  probe: claudeProbe,
};
