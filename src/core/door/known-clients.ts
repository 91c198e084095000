import type { KnownClient } from "./client-profile.ts";
import type { PermissionPrompt } from "./hook.ts";

/** The parts of agent folders that the server needs, which imports no agent. */
export interface KnownClients {
  profiles: readonly KnownClient[];
  /** For the agent whose permission prompts come to our tool, if there is one. */
  permissionPrompt: PermissionPrompt | undefined;
}
