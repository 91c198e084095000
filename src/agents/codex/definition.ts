import type { AgentDefinition } from "../registry.ts";
import { codexApp } from "./app-server.ts";
import { codex } from "./codex.ts";
import { codexHook } from "./hook.ts";
import { codexProbe } from "./probe.ts";
import { codexProfile } from "./profile.ts";
import { codexWiring } from "./wiring.ts";

export const codexDefinition: AgentDefinition = {
  agent: codex,
  ways: [{ agent: codexApp, env: "ASKD_CODEX", is: "app-server" }],
  client: codexWiring,
  profile: codexProfile,
  hook: codexHook,
  bridge: () => import("./bridge.ts"),
  probe: codexProbe,
};
