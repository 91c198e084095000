import type { AgentDefinition } from "../registry.ts";
import { opencode } from "./opencode.ts";
import { opencodeProbe } from "./probe.ts";
import { opencodeProfile } from "./profile.ts";
import { opencodeServe } from "./serve.ts";
import { opencodeWiring } from "./wiring.ts";

export const opencodeDefinition: AgentDefinition = {
  agent: opencode,
  ways: [{ agent: opencodeServe, env: "ASKD_OPENCODE", is: "serve" }],
  client: opencodeWiring,
  profile: opencodeProfile,
  bridge: () => import("./bridge.ts"),
  probe: opencodeProbe,
};
