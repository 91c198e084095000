import type { AgentDefinition } from "../registry.ts";
import { gemini } from "./gemini.ts";
import { geminiHook } from "./hook.ts";
import { geminiProbe } from "./probe.ts";
import { geminiProfile } from "./profile.ts";
import { geminiWiring } from "./wiring.ts";

export const geminiDefinition: AgentDefinition = {
  agent: gemini,
  client: geminiWiring,
  profile: geminiProfile,
  hook: geminiHook,
  probe: geminiProbe,
};
